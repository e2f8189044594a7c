import { labelled } from './say-step.ts'
import { shown } from './shown.ts'

/** Terminals, tickets and mails show eighty columns without folding a line. */
export const TERMINAL_COLUMNS = 80

/** One labelled line, shown and folded between words where it is too long; a command in backticks is kept whole. */
export function wrapped(label: string, text: string): string[] {
  return hanging(labelled(label, ''), text)
}

/** The same behind any head, below which the other lines are set in. */
export function hanging(head: string, text: string): string[] {
  const words = shown(text).match(/(?:`[^`]*`|[^ ])+/g) ?? []
  const [first = '', ...others] = folded(words, TERMINAL_COLUMNS - head.length)
  return [head + first, ...others.map((part) => ' '.repeat(head.length) + part)]
}

function folded(words: readonly string[], width: number): string[] {
  const parts: string[] = []
  for (const word of words) {
    const last = parts.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width) {
      parts[parts.length - 1] = `${last} ${word}`
    } else parts.push(word)
  }
  return parts
}
