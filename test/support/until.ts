import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'

type Truthy<T> = Exclude<T, false | 0 | '' | null | undefined>
type Options = {
  /** Milliseconds. */
  readonly timeout?: number
  readonly every?: number
  /** What is waited for, in words; otherwise the condition's own source is shown. */
  readonly what?: string
}

/**
 * Asks until the condition answers with something true, and resolves to that. A condition that throws (an
 * `expect` in it) is asked again; the failure tells what was waited for and what came last.
 */
export async function until<T>(condition: () => T | Promise<T>, options: Options = {}): Promise<Truthy<T>> {
  const { timeout = 10_000, every = 20, what = source(condition) } = options
  const end = performance.now() + timeout
  for (;;) {
    const last = await ask(condition)
    if ('value' in last && last.value) return last.value as Truthy<T>
    if (performance.now() > end) throw notInTime(what, timeout, last)
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

function notInTime(what: string, timeout: number, last: Last<unknown>): Error {
  if ('value' in last) return new Error(`not within ${timeout} ms: ${what}; last: ${inspect(last.value)}`)
  const { thrown } = last
  const words = thrown instanceof Error ? thrown.message : inspect(thrown)
  return new Error(`not within ${timeout} ms: ${what}; last: ${words}`, { cause: thrown })
}

function source(condition: () => unknown): string {
  const text = String(condition).replaceAll(/\s+/g, ' ')
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
