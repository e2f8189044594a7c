// The problems of an input.
import * as z from 'zod'
import { renderDuration } from '../model/duration.ts'
import { RollcallError } from '../model/errors.ts'

/** Whole numbers in a range; every problem names the range. */
export function whole(from: number, to: number, unit?: string): z.ZodInt {
  const expected = `expected ${from} to ${to}${unit === undefined ? '' : ` ${unit}`}`
  return z.int(expected).min(from, expected).max(to, expected)
}

export function milliseconds(from: number, to: number): z.ZodInt {
  return whole(from, to, `milliseconds (at most ${renderDuration(to)})`)
}

/** The expectation for each field, by its path; never the value that came. */
export type Problems = Readonly<Record<string, string>>

/** @param unknown what to say of a name that is not known */
export function problemsOf({ issues }: z.ZodError, unknown = (_name: string) => 'not known'): Problems {
  const problems = issues.flatMap(({ path, ...issue }): [string, string][] =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => [nameOf([...path, key]), unknown(key)])
      : [[nameOf(path), issue.message]],
  )
  return Object.fromEntries(problems)
}

function nameOf(path: readonly PropertyKey[]): string {
  return path.length === 0 ? 'body' : path.map((part) => String(part) || '""').join('.')
}

type Checking = {
  readonly option: string
  readonly unknown: string
  /** The person's word for a path of the schema. */
  readonly nameOf?: (path: string) => string
}

/** For values of the command line; throws RollcallError USAGE with a line for each problem. */
export function checkOption<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  { option, unknown, nameOf = (path) => path }: Checking,
) {
  const read = schema.safeParse(value)
  if (read.success) return read.data
  const problems = Object.entries(problemsOf(read.error, () => unknown))
  const details = problems.map(([path, problem]) => `${option}: ${nameOf(path)}: ${problem}`)
  throw new RollcallError('USAGE', [...new Set(details)])
}
