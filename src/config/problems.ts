// Mistakes in a configuration, gathered so that all of them are reported at once.
import { types } from 'node:util'
import type * as z from 'zod'
import { toDotPath } from 'zod/v4/core'
import { scalarText } from '../model/values.ts'
import { closest } from './closest.ts'

export type Path = readonly PropertyKey[]
/** `text` says what was expected there. */
export type Problem = { readonly path: Path; readonly text: string }

/** The parsed value; or undefined, with every mistake added to `problems`. */
export function read<T>(schema: z.ZodType<T>, raw: unknown, at: Path, problems: Problem[]): T | undefined {
  const result = schema.safeParse(raw, { reportInput: true })
  if (result.success) return result.data
  // A misspelt key first: another one may be missing because of it.
  const isUnknown = ({ code }: z.core.$ZodIssue) => Number(code === 'unrecognized_keys')
  const issues = result.error.issues.toSorted((a, b) => isUnknown(b) - isUnknown(a))
  for (const issue of issues) problems.push(...worded(issue, at))
  return undefined
}

/** One line for a person: the field's path and what was expected there. */
export function problemLine({ path, text }: Problem): string {
  return path.length === 0 ? text : `${toDotPath([...path])}: ${text}`
}

export function unknownKey(key: string, known: readonly string[]): string {
  const meant = closest(key, known)
  return meant === undefined
    ? `unknown name; expected one of ${known.join(', ')}`
    : `unknown name; did you mean ${meant}?`
}

/** Short values alone: an object is on the author's screen, and a text could be an address or a secret. */
function found(value: unknown): string {
  if (value === undefined) return ', found nothing'
  if (types.isAsyncFunction(value)) return ', found an async function'
  if (typeof value === 'function')
    return `, found a ${types.isGeneratorFunction(value) ? 'generator ' : ''}function`
  const text = value === null ? 'null' : typeof value === 'object' ? undefined : scalarText(value)
  if (text === undefined || !/^[\w .-]{0,40}$/.test(text)) return ''
  return `, found ${typeof value === 'string' ? `'${text}'` : text}`
}

function worded(issue: z.core.$ZodIssue, at: Path): Problem[] {
  const path = [...at, ...issue.path]
  if (issue.code !== 'unrecognized_keys') return [{ path, text: `${issue.message}${found(issue.input)}` }]
  // The sections of schema.ts name the keys that they know.
  const known = issue.message.split(' ')
  return issue.keys.map((key) => ({ path: [...path, key], text: unknownKey(key, known) }))
}
