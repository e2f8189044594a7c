// The dimensions of a contract, read off its schema: what each one is about and what it takes.
import { z } from 'zod'
import { DURATION_FORM, sayDuration } from '../../model/duration.ts'
import { type Contract, contract } from './contract.ts'

export type Dimension = keyof Contract

/** In the order of contract.ts, each with a line for lists. */
export const ABOUT: Readonly<Record<Dimension, string>> = {
  createStatus: 'answer to a create that was carried out',
  createBody: 'and its body; a 204 has none',
  updateStatus: 'answer to a PUT or PATCH that was carried out',
  updateBody: 'and its body; a 204 has none',
  duplicate: 'create of a user who is there',
  unknownUser: 'GET, PUT or PATCH of a user who is not there; null: 200 with JSON null',
  refusal:
    'a body that does not fit or is no JSON: an answer that says why, 400 that does not, 400 with HTML',
  refuses: 'a field whose values are refused although they fit',
  unique: "a field that no two users may have alike; another user's value is answered 409",
  nulls: 'a field without a value, in a GET',
  numbers: 'status and gender, in a GET',
  visibleAfterMs: 'how long a GET goes on showing what was there before a write',
  forbidden: 'server-to-server calls about a user_id that contains this are answered 403; empty: none',
  trialMs: 'how long status 4 gives access',
  trialEnd: 'when it is over a GET shows status 0, or still 4',
  trialAgain: 'what sending status 4 again does to it',
  email: 'the e-mail, in a GET',
  phone: 'the phone, in a GET: prefix and number joined, as sent, or like +34 612 345 678',
  names: 'photo and speciality_id, or avatar and speciality, of a professional',
  roomId: 'id of a room, in the list of professionals',
  order: 'order of a page of messages',
  pivot: 'whether a page of messages holds its pivot',
}

export const DIMENSIONS = Object.keys(ABOUT) as readonly Dimension[]

/** The contract with every dimension at its default. */
export const DOCUMENTED: Contract = contract.parse({})

export type Takes =
  | { readonly kind: 'choice'; readonly values: readonly (string | number)[] }
  | { readonly kind: 'duration'; readonly minMs: number; readonly maxMs: number }
  /** Any text but the empty one, or none. */
  | { readonly kind: 'text' }

/** Throws when contract.ts has got a kind of dimension that nobody can write down yet. */
export function takes(dimension: Dimension): Takes {
  const inner = contract.shape[dimension].unwrap()
  if (inner instanceof z.ZodLiteral) return { kind: 'choice', values: [...inner.values] }
  if (inner instanceof z.ZodEnum) return { kind: 'choice', values: inner.options }
  if (inner instanceof z.ZodNullable) return { kind: 'text' }
  if (inner instanceof z.ZodNumber && inner.minValue !== null && inner.maxValue !== null) {
    return { kind: 'duration', minMs: inner.minValue, maxMs: inner.maxValue }
  }
  throw new Error(`no way to write ${dimension}`)
}

/** What would have been right, in a JSON body or as a word of the text form. */
export function expected(dimension: Dimension, form: 'json' | 'text'): string {
  const what = takes(dimension)
  switch (what.kind) {
    case 'choice':
      return what.values.map((value) => (form === 'json' ? JSON.stringify(value) : value)).join(', ')
    case 'duration': {
      const { minMs, maxMs } = what
      if (form === 'json') return `${minMs} to ${maxMs} milliseconds`
      return `${sayDuration(minMs)} to ${sayDuration(maxMs)}: ${DURATION_FORM}`
    }
    case 'text':
      return form === 'json' ? 'a text, or null' : 'a text, percent-encoded where it holds spaces, or nothing'
    default:
      return what satisfies never
  }
}
