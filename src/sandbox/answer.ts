// What the sandbox answers: one form for all errors, whatever the endpoint.
import type { WireProblems } from '../service/schema.ts'

export type AnswerBody =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'none' }
  | { readonly kind: 'html'; readonly title: string }

/** `stored`: the call changed what the sandbox holds. */
export type Answer = { readonly status: number; readonly body: AnswerBody; readonly stored: boolean }

export type ErrorCode =
  | 'bad_request'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'invalid'
  | 'too_large'
  | 'fault'
  | 'broken'

/** `fields` says what was expected of each field, never what it held. */
export function errorBody(code: ErrorCode, message: string, fields: WireProblems = {}): object {
  return { error: { code, message, fields } }
}

export function json(status: number, value: unknown, stored = false): Answer {
  return { status, body: { kind: 'json', value }, stored }
}

export function refuse(status: number, code: ErrorCode, message: string, fields?: WireProblems): Answer {
  return json(status, errorBody(code, message, fields))
}
