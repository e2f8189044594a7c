/**
 * The known name that was probably meant, for "did you mean": at most a third of its letters are wrong, and
 * case, dashes and underscores do not count. Undefined when none is near.
 */
export function closest(name: string, known: readonly string[]): string | undefined {
  const near = known
    .map((candidate) => ({ candidate, far: distance(plain(name), plain(candidate)) }))
    .filter(({ candidate, far }) => far <= Math.max(1, Math.floor(plain(candidate).length / 3)))
    .sort((a, b) => a.far - b.far)
  return near[0]?.candidate
}

function plain(text: string): string {
  return text.toLowerCase().replace(/[_-]/g, '')
}

/** Letters to insert, delete, replace or swap with the next one (optimal string alignment). */
function distance(a: string, b: string): number {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      row.push(
        Math.min(
          cell(last, j) + 1,
          cell(row, j - 1) + 1,
          cell(last, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1),
          swapped ? cell(before, j - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      )
    }
    before = last
    last = row
  }
  return cell(last, b.length)
}

function cell(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY
}
