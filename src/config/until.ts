// The answer of a function of the configuration, and where it depends on the time, until when it holds.
import { types } from 'node:util'
import { parseTime } from '../model/time.ts'
import type { Clock } from './define.ts'

/** An answer that holds until a time, in milliseconds since 1970. One that holds until a change comes bare. */
export class TimedAnswer<T = unknown> {
  readonly value: T
  readonly untilMs: number

  constructor(value: T, untilMs: number) {
    this.value = value
    this.untilMs = untilMs
  }
}

/** A function that goes by the time and does not say, or not usably, until when its answer holds. */
export class InvalidTimedAnswer extends Error {
  override readonly name = 'InvalidTimedAnswer'
  /** Holds no value, so that it may be stored and shown. */
  readonly expected: string

  constructor(expected: string) {
    super(`expected ${expected}`)
    this.expected = expected
  }
}

const SAID = 'a result { value, validUntil }, because the function asks for the time (`now`)'
const WHOLE = 'both `value` and `validUntil` in the result'
const READABLE = 'a `validUntil` that is a Date, an ISO 8601 text (UTC if it has no zone) or null'
const AHEAD = 'a `validUntil` after `now`, or null if the value holds until the row changes'

/**
 * Asks with a clock that notes whether it was read. An answer that depends on the time is right only for a while.
 * Without the end of that while, or with one that has passed, the customer would never be planned again: both are
 * failures. An answer that says until when it holds needs no reading of the clock.
 *
 * @throws InvalidTimedAnswer, and whatever `ask` throws
 */
export function withClock(now: Date, ask: (clock: Clock) => unknown): unknown {
  let read = false
  const clock: Clock = Object.freeze({
    get now() {
      read = true
      return new Date(now)
    },
  })
  const answer = atOnce(ask(clock))
  if (typeof answer === 'object' && answer !== null && 'validUntil' in answer) return heldBy(answer, now)
  if (read) throw new InvalidTimedAnswer(SAID)
  return answer
}

function heldBy(answer: { readonly validUntil: unknown }, now: Date): unknown {
  if (!('value' in answer)) throw new InvalidTimedAnswer(WHOLE)
  const value = atOnce(answer.value)
  const untilMs = readTime(answer.validUntil)
  if (untilMs === null) return value
  if (Number.isNaN(untilMs)) throw new InvalidTimedAnswer(READABLE)
  if (untilMs <= now.getTime()) throw new InvalidTimedAnswer(AHEAD)
  return new TimedAnswer(value, untilMs)
}

/**
 * A function that answers with a promise waits for something else than the row: its answer could not be repeated.
 *
 * @throws TypeError
 */
export function atOnce(answer: unknown): unknown {
  if (typeof answer !== 'object' || answer === null || !('then' in answer)) return answer
  if (typeof answer.then !== 'function') return answer
  Promise.resolve(answer).catch(() => {}) // its own failure is part of the one that is thrown here
  throw new TypeError('the function returns a promise')
}

/** Milliseconds since 1970; null: never; NaN: it cannot be read. */
function readTime(given: unknown): number | null {
  if (given === null) return null
  if (types.isDate(given)) return given.getTime()
  if (typeof given !== 'string') return Number.NaN
  const text = given.trim()
  return text === 'infinity' ? null : parseTime(text)
}
