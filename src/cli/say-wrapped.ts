import { asEscape } from './json.ts'
import { line } from './say-step.ts'

/** Terminals, tickets and mails show eighty columns without folding a line. */
export const COLUMNS = 80
const INDENT = ' '.repeat(12)

/** Control characters (C0, DEL, C1), line separators, and what turns the writing round. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it is about
const OBEYED = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** Keys, ids and whatever else comes from outside: what a terminal would obey is shown in place of being obeyed. */
export function shown(text: string): string {
  return text.replace(OBEYED, asEscape)
}

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
