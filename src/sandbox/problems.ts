// The words of errors. Input may be thousands of names of thousands of letters, and zod's own sentences repeat input in
// the words of a programmer.
import { z } from 'zod'
import { closest } from '../model/closest.ts'

export const MOST_PROBLEMS = 20

export function shorten(text: string, most = 60): string {
  return text.length <= most ? text : `${text.slice(0, most)}…`
}

/** For an unknown name: the known one that was probably meant, or all of them. */
export function notKnown(name: string, known: readonly string[]): string {
  const meant = closest(shorten(name), known)
  return meant === undefined ? `not known; one of ${known.join(', ')}` : `not known; did you mean ${meant}?`
}

/** Whole numbers in a range; every problem names the range. */
export function whole(from: number, to: number, unit?: string): z.ZodInt {
  const expected = `${unit === undefined ? '' : `${unit}, `}${from} to ${to}`
  return z.int(expected).min(from, expected).max(to, expected)
}

/** A percent-encoded text; NaN, which no text field takes, for half an escape. */
export function readDecoded(text: string): string | number {
  try {
    return decodeURIComponent(text)
  } catch {
    return Number.NaN
  }
}

/** Says what was expected, for a schema that has no words of its own; the second argument of a parse. */
export const IN_WORDS: { readonly error: z.core.$ZodErrorMap } = { error: expectedBy }

function expectedBy(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return KINDS[issue.expected] ?? OTHER
    case 'invalid_value':
      return `${issue.values.length > 1 ? 'one of ' : ''}${issue.values.join(', ')}`
    case 'too_small':
      return issue.origin === 'string' ? 'a text that is not empty' : `at least ${issue.minimum}`
    case 'too_big':
      return issue.origin === 'array' ? `at most ${issue.maximum} of them` : `at most ${issue.maximum}`
    default:
      return OTHER
  }
}

const OTHER = 'a value of another form'
const KINDS: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
}
