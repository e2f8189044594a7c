// What breaks, when, and for how long: drawn before anything runs, so that a seed repeats it.
import { USER_PRESETS } from '../support/presets.ts'
import type { Statement } from './changes.ts'
import { pick, type Random } from './values.ts'

/** What the writers do around it, so that it strikes in the middle of calls: there before it, back after it. */
export type Around = { readonly there: Statement; readonly back: Statement; readonly thenMs: number }

/** `early`: it may not have started yet. */
export type WorkerDeed = { readonly around: Around; readonly early: boolean } & (
  | { readonly kind: 'kill' }
  | { readonly kind: 'terminate' }
  | { readonly kind: 'suspend'; readonly ms: number }
)

export type PostgresDeed =
  | { readonly kind: 'restart' }
  | { readonly kind: 'kill'; readonly downMs: number }
  /** One of its processes is killed, so that it ends all sessions and recovers. */
  | { readonly kind: 'kill a session' }
  | { readonly kind: 'cut all sessions' }

export type QueueDeed =
  | { readonly kind: 'lose everything' }
  | { readonly kind: 'restart' }
  | { readonly kind: 'kill'; readonly downMs: number }
  /** What is on it now comes back with the next start. */
  | { readonly kind: 'keep for later' }

export type ServiceDeed =
  | { readonly kind: 'preset'; readonly name: (typeof USER_PRESETS)[number]; readonly ms: number }
  /** Nobody is answered, or nobody's credentials are taken. */
  | { readonly kind: 'outage' | 'locked out'; readonly ms: number }

export type HandDeed = { readonly kind: 'sync'; readonly key: string; readonly killAfterMs: number | null }

export type After<T> = { readonly waitMs: number; readonly deed: T }

export function* workerDeeds(
  {
    random,
    around,
  }: { readonly random: Random; readonly around: (afterMs: number) => Omit<Around, 'thenMs'> },
  lifetimeMs: number,
): Generator<After<WorkerDeed>, never> {
  let afterMs = 0
  for (;;) {
    const waitMs = between(500, 8000, random)
    afterMs += waitMs
    const about = {
      around: { ...around(afterMs), thenMs: random() < 0.5 ? 0 : between(0, 100, random) },
      early: random() < 0.2,
    }
    const kind = random()
    if (kind < 0.35) yield { waitMs, deed: { ...about, kind: 'kill' } }
    else if (kind < 0.5) yield { waitMs, deed: { ...about, kind: 'terminate' } }
    else {
      const long = random() < 0.6
      const ms = long ? between(lifetimeMs, lifetimeMs * 2.5, random) : between(50, lifetimeMs, random)
      afterMs += ms
      yield { waitMs, deed: { ...about, kind: 'suspend', ms } }
    }
  }
}

export function* postgresDeeds(random: Random): Generator<After<PostgresDeed>, never> {
  for (;;) {
    const waitMs = between(4000, 16_000, random)
    const kind = random()
    if (kind < 0.25) yield { waitMs, deed: { kind: 'restart' } }
    else if (kind < 0.5) yield { waitMs, deed: { kind: 'kill', downMs: between(0, 4000, random) } }
    else if (kind < 0.7) yield { waitMs, deed: { kind: 'kill a session' } }
    else yield { waitMs, deed: { kind: 'cut all sessions' } }
  }
}

export function* queueDeeds(random: Random): Generator<After<QueueDeed>, never> {
  for (;;) {
    const waitMs = between(3000, 12_000, random)
    const kind = random()
    if (kind < 0.4) yield { waitMs, deed: { kind: 'lose everything' } }
    else if (kind < 0.55) yield { waitMs, deed: { kind: 'restart' } }
    else if (kind < 0.8) yield { waitMs, deed: { kind: 'kill', downMs: between(0, 5000, random) } }
    else yield { waitMs, deed: { kind: 'keep for later' } }
  }
}

/** Every preset before any comes again. */
export function* serviceDeeds(random: Random): Generator<ServiceDeed, never> {
  for (;;) {
    for (const name of shuffled(USER_PRESETS, random)) {
      yield { kind: 'preset', name, ms: between(2000, 5000, random) }
      if (random() < 0.15) {
        const kind = random() < 0.6 ? 'outage' : 'locked out'
        yield { kind, ms: between(500, 5000, random) }
      }
    }
  }
}

export function* handDeeds(
  random: Random,
  hot: (afterMs: number) => readonly string[],
): Generator<After<HandDeed>, never> {
  let afterMs = 0
  for (;;) {
    const killAfterMs = random() < 0.3 ? between(200, 4000, random) : null
    const waitMs = between(3000, 10_000, random)
    afterMs += waitMs
    yield { waitMs, deed: { kind: 'sync', key: pick(hot(afterMs), random), killAfterMs } }
  }
}

function between(from: number, to: number, random: Random): number {
  return Math.round(from + random() * (to - from))
}

function shuffled<T>(from: readonly T[], random: Random): readonly T[] {
  return from
    .map((each) => ({ each, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ each }) => each)
}
