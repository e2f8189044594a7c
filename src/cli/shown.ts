import { asEscape } from './json.ts'

/** Control characters (C0, DEL, C1), line separators, and what turns the writing round. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it is about
const OBEYED = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** Keys, ids and whatever else comes from outside: what a terminal would obey is shown in place of being obeyed. */
export function shown(text: string): string {
  return text.replace(OBEYED, asEscape)
}
