import { line } from './say-step.ts'
import { shown } from './shown.ts'

/** Terminals, tickets and mails show eighty columns without folding a line. */
export const COLUMNS = 80
const INDENT = ' '.repeat(12)

/** One labelled line, shown and folded between words where it is too long; a command in backticks is kept whole. */
export function wrapped(label: string, text: string): string[] {
  const [first = '', ...others] = folded(shown(text).match(/(?:`[^`]*`|[^ ])+/g) ?? [])
  return [line(label, first), ...others.map((part) => INDENT + part)]
}

function folded(words: readonly string[]): string[] {
  const parts: string[] = []
  for (const word of words) {
    const last = parts.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= COLUMNS - INDENT.length) {
      parts[parts.length - 1] = `${last} ${word}`
    } else parts.push(word)
  }
  return parts
}
