// Reads the values of options, which are text, and says what is wrong with them.
import os from 'node:os'
import type { DecidedBy } from '../brake/held.ts'
import { closest } from '../config/closest.ts'
import { RollcallError } from '../model/errors.ts'

export const CONFIG_OPTION = [
  '-c, --config <file>',
  'configuration file (default: rollcall.config.ts)',
] as const
export const JSON_OPTION = ['--json', 'print the result as JSON'] as const

type NumberRule = {
  readonly name: string
  readonly expected: string
  /** A number, and a unit after it where there is one. */
  readonly form: RegExp
  readonly from: number
  readonly to: number
}

/** Reads the value of an option for commander. @throws RollcallError USAGE */
export function numberIn({ name, expected, form, from, to }: NumberRule): (text: string) => number {
  return (text) => {
    const value = form.test(text) ? Number.parseFloat(text) : Number.NaN
    if (value >= from && value <= to) return value
    throw usage(`${name}: expected ${expected}`)
  }
}

/** A column of the tables takes no more. */
const MOST_WHOLE = 2_000_000_000

export function wholeNumber(name: string): (text: string) => number {
  return numberIn({
    name,
    expected: `a whole number from 1 to ${MOST_WHOLE}`,
    form: /^\d{1,10}$/,
    from: 1,
    to: MOST_WHOLE,
  })
}

export const MOST_PER_SECOND = 10_000

export function rateIn(name: string): (text: string) => number {
  const expected = `calls per second as a number from 0.1 to ${MOST_PER_SECOND}, like 200 or 0.5`
  return numberIn({ name, expected, form: /^\d{1,9}(\.\d{1,9})?$/, from: 0.1, to: MOST_PER_SECOND })
}

export const WHERE_OPTION = [
  '--where <condition>',
  'only customers that fulfil this condition, like plan=premium; repeatable',
] as const

export function gathered(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text]
}

const MOST_TEXT = 1000

type Person = { readonly [option in 'by' | 'why']?: string | undefined }

/** @throws RollcallError USAGE where it is not said why */
export function readPerson({ by, why }: Person): DecidedBy {
  return { by: readText('by', by ?? systemUser()), why: readText('why', why) }
}

function readText(name: 'by' | 'why', text: string | undefined): string {
  const trimmed = text?.trim() ?? ''
  if (trimmed === '') throw usage(`--${name} is missing: rollcall stores it with your decision`)
  if (trimmed.length > MOST_TEXT) throw usage(`--${name}: expected ${MOST_TEXT} characters at most`)
  return trimmed
}

/** A container's user may have no name. */
function systemUser(): string {
  const host = os.hostname()
  try {
    return `${os.userInfo().username}@${host}`
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}@${host}`
  }
}

/** The other exit codes, for the help of commands that tell 0 from 3. */
export const FAILED = `  1  the command failed
  2  the command line or the environment is wrong, or a migration is needed`

export function didYouMean(name: string, known: readonly string[]): string {
  const near = closest(name, known)
  return near === undefined ? '' : `; did you mean ${near}?`
}

export function usage(...details: readonly string[]): RollcallError {
  return new RollcallError('USAGE', details)
}
