import type { ReplyBody } from './client.ts'

/** No body of the service nests deeper than a few levels; beyond this, recursion over it could end the stack. */
const MAX_DEPTH = 64

/** Answers that many a service gives to a write in place of JSON. */
const YES = /^\s*(?:ok|okay|success|succeeded|done|created|updated|accepted)[.!]?\s*$/i

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Reads a body by what it is and not by what its Content-Type says: JSON is JSON, without a byte order mark before
 * it; white space alone is no body; a bare word that says yes is that word. Everything else (HTML, other encodings,
 * compressed bytes, absurd nesting) is unreadable.
 */
export function readBody(bytes: Uint8Array): ReplyBody {
  try {
    const text = utf8.decode(bytes) // throws for what is not UTF-8, which JSON must be (RFC 8259, 8.1)
    if (text.trim() === '') return { kind: 'none' }
    if (YES.test(text)) return { kind: 'json', value: text.trim() }
    if (isShallow(text)) return { kind: 'json', value: JSON.parse(text) }
  } catch {} // no text, or no JSON
  return { kind: 'unreadable' }
}

/** Brackets outside strings, counted without parsing. */
function isShallow(json: string): boolean {
  let depth = 0
  let inString = false
  for (let i = 0; i < json.length; i += 1) {
    const character = json[i]
    if (inString) {
      if (character === '\\') i += 1
      else if (character === '"') inString = false
    } else if (character === '"') inString = true
    else if (character === '[' || character === '{') {
      depth += 1
      if (depth > MAX_DEPTH) return false
    } else if (character === ']' || character === '}') depth -= 1
  }
  return true
}
