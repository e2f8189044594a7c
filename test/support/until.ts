import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import { progress } from './progress.ts'

type Truthy<T> = Exclude<T, false | 0 | '' | null | undefined>
type Options = {
  /** Milliseconds between two questions. */
  readonly every?: number
  /** Names the condition; otherwise the failure shows its source. */
  readonly what?: string
  /** Milliseconds without any progress after which the wait fails. */
  readonly patience?: number
}

/** No part of the product pauses for as long as this, nor takes as long to start on a machine that is overloaded. */
const PATIENCE_MS = 60_000
/** Endless movement without a result stops here, before vitest stops the test without a word. */
const CIRCLE_MS = 240_000

/**
 * Asks until the condition answers with something true, and resolves to that. A condition that throws (an `expect` in
 * it) is asked again. A slow machine makes the wait long, and no failure: the wait goes on while its answer changes, or
 * anything else moves (progress.ts). The failure tells what was waited for and what came last.
 */
export async function until<T>(condition: () => T | Promise<T>, options: Options = {}): Promise<Truthy<T>> {
  const { every = 20, what = source(condition), patience = PATIENCE_MS } = options
  const start = performance.now()
  let moved = { at: start, state: '' }
  for (;;) {
    const last = await ask(condition)
    if ('value' in last && last.value) return last.value as Truthy<T>
    const now = performance.now()
    const state = `${progress()} ${words(last)}`
    if (state !== moved.state) moved = { at: now, state }
    else if (now - moved.at > patience) throw failure(`nothing has moved for ${patience} ms`, what, last)
    if (now - start > CIRCLE_MS) throw failure(`not within ${CIRCLE_MS} ms, though things move`, what, last)
    await sleep(every)
  }
}

type Last<T> = { readonly value: T } | { readonly thrown: unknown }

async function ask<T>(condition: () => T | Promise<T>): Promise<Last<T>> {
  try {
    return { value: await condition() }
  } catch (thrown) {
    return { thrown }
  }
}

function failure(why: string, what: string, last: Last<unknown>): Error {
  const cause = 'thrown' in last ? { cause: last.thrown } : {}
  return new Error(`${why}: ${what}; last: ${words(last)}`, cause)
}

function words(last: Last<unknown>): string {
  if ('value' in last) return inspect(last.value)
  return last.thrown instanceof Error ? last.thrown.message : inspect(last.thrown)
}

function source(condition: () => unknown): string {
  const text = String(condition).replaceAll(/\s+/g, ' ')
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
