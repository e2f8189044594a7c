// Tables of rules as tests and docs/plan.md share them: the cells of a row are a condition for each fact, then what
// follows. A cell names one value or several; `any` is every value.

export type Row = readonly string[]
/** Under each column of conditions what holds in a case: one word for it, or several that all hold. */
export type Case = readonly (readonly string[])[]

export function fits(row: Row, given: Case): boolean {
  return given.every((words, column) => {
    const cell = row[column] ?? ''
    return cell === 'any' || cell.split(', ').some((word) => words.includes(word))
  })
}

export function firstThatFits(rows: readonly Row[], given: Case): { readonly row: Row; readonly at: number } {
  const at = rows.findIndex((row) => fits(row, given))
  const row = rows[at]
  if (!row) throw new Error(`no row for ${JSON.stringify(given)}`)
  return { row: row.slice(given.length), at }
}

/** The table of a page that has this head, without head and rule; the marks of code are left out. */
export function tableWithHead(page: string, head: Row): Row[] {
  const lines = page.split('\n').map(cellsOf)
  const from = lines.findIndex((cells) => cells !== null && String(cells) === String(head))
  if (from === -1) throw new Error(`no table with the head ${head.join(' | ')}`)
  const to = lines.findIndex((cells, at) => at > from && cells === null)
  return lines.slice(from + 2, to === -1 ? undefined : to).map((cells) => cells ?? [])
}

function cellsOf(line: string): Row | null {
  if (!line.startsWith('|')) return null
  return line
    .replaceAll('`', '')
    .slice(1, line.replaceAll('`', '').lastIndexOf('|'))
    .split('|')
    .map((cell) => cell.trim())
}
