// The list of findings. Rows are in the document only near what is seen: ten thousand of them at once would make every
// scroll and every search slow on a phone. They come and go by chunks, each a tbody that keeps its height.
import type { ReportedFinding } from '../report.ts'
import { rowOf } from '../row.ts'

const CHUNK = 100
/** Chunks are filled this far before they come into sight. */
const AHEAD = '1500px 0px'

type Chunk = {
  readonly body: HTMLTableSectionElement
  readonly findings: readonly ReportedFinding[]
  readonly first: number
  filled: boolean
}

export type List = {
  show(findings: readonly ReportedFinding[]): void
  /** On paper everything is there, whatever is in sight. */
  fillAll(): void
}

export function makeList(table: HTMLTableElement): List {
  let chunks = new Map<Element, Chunk>()
  let rowHeight = 40
  const fill = (chunk: Chunk) => {
    if (chunk.filled) return
    chunk.filled = true
    chunk.body.innerHTML = chunk.findings
      .map((finding, n) => rowOf(finding, chunk.first + n + 1).html)
      .join('')
  }
  const empty = (chunk: Chunk) => {
    if (!chunk.filled) return
    chunk.filled = false
    leaveBlank(chunk, chunk.body.getBoundingClientRect().height)
  }
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        const chunk = chunks.get(target)
        if (chunk !== undefined) (isIntersecting ? fill : empty)(chunk)
      }
    },
    { rootMargin: AHEAD },
  )
  return {
    show(findings) {
      observer.disconnect()
      for (const body of [...table.tBodies]) body.remove()
      chunks = chunksOf(findings)
      table.setAttribute('aria-rowcount', String(findings.length + 1))
      const [first] = chunks.values()
      if (first !== undefined) {
        fill(first)
        table.append(first.body)
        rowHeight = first.body.getBoundingClientRect().height / first.findings.length || rowHeight
      }
      for (const chunk of chunks.values()) {
        if (chunk !== first) leaveBlank(chunk, chunk.findings.length * rowHeight)
        table.append(chunk.body)
        observer.observe(chunk.body)
      }
    },
    fillAll() {
      for (const chunk of chunks.values()) fill(chunk)
    },
  }
}

function chunksOf(findings: readonly ReportedFinding[]): Map<Element, Chunk> {
  const chunks = new Map<Element, Chunk>()
  for (let first = 0; first < findings.length; first += CHUNK) {
    const body = document.createElement('tbody')
    body.setAttribute('role', 'rowgroup')
    chunks.set(body, { body, findings: findings.slice(first, first + CHUNK), first, filled: false })
  }
  return chunks
}

/** One row as high as those that stood here or will. */
function leaveBlank({ body }: Chunk, height: number): void {
  const row = document.createElement('tr')
  row.setAttribute('aria-hidden', 'true')
  row.className = 'blank'
  row.style.height = `${height}px`
  body.replaceChildren(row)
}
