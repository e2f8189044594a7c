// What a terminal, a log viewer or a browser obeys in place of showing it.

/** Control characters (C0, DEL, C1), line separators, and what turns the writing round. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it is about
export const OBEYED = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** The same without C0: JSON escapes those itself, and its own line breaks have to stand. */
export const OBEYED_IN_JSON = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** As JSON and JavaScript write one UTF-16 unit: U+202E as `\u202e`. */
export function asEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}
