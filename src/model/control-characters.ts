// Characters that a terminal, a log viewer or a browser obeys instead of showing them.

/** Control characters (C0, DEL, C1), line separators, and what turns the writing round. */
export const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu

/** The same without C0: JSON escapes those itself, and its own line breaks have to stand. */
export const CONTROLS_IN_JSON = /[\u007f-\u009f\p{Zl}\p{Zp}\p{Bidi_Control}]/gu

/** As JSON and JavaScript write one UTF-16 unit: U+202E as `\u202e`. */
export function asEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}
