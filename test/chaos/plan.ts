// A whole run as data, drawn from one generator: each actor has a share of it that nobody else's doings can shift.
import { seededRandom } from '../../src/sandbox/faults/faults.ts'
import { changes, firstRows, thereAndBackTogether } from './changes.ts'
import { handDeeds, postgresDeeds, queueDeeds, serviceDeeds, workerDeeds } from './deeds.ts'
import { makeValues } from './values.ts'

/** So many customers are changed at a time, each for some seconds and never again: what went wrong then stays wrong. */
const HOT = 12
const TURN_MS = 1000
const FIRST = 30
/** Of a hundred, that a service of one kind refuses. */
const FORBIDDEN = 5
const WRITERS = 4
export const WORKERS = 2

export type Plan = ReturnType<typeof planRun>

export function planRun(
  { seed, minutes }: { readonly seed: number; readonly minutes: number },
  lifetimeMs: number,
) {
  const source = seededRandom(seed)
  const share = () => seededRandom(Math.floor(source() * 2 ** 32))
  const values = makeValues()
  const naming = share()
  const keys = Array.from({ length: HOT + Math.ceil((minutes * 60_000) / TURN_MS) }, () =>
    values.key(naming, naming() * 100 < FORBIDDEN ? 'forbidden' : 'usual'),
  )
  const hot = (afterMs: number) => {
    const from = Math.min(keys.length - HOT, Math.floor(afterMs / TURN_MS))
    return keys.slice(from, from + HOT)
  }
  return {
    seed,
    values,
    keys,
    first: firstRows({ values, keys: keys.slice(0, FIRST), random: share() }),
    writers: Array.from({ length: WRITERS }, () => changes({ values, hot, random: share() })),
    workers: Array.from({ length: WORKERS }, () => {
      const random = share()
      const around = (afterMs: number) => thereAndBackTogether({ values, keys: hot(afterMs), random })
      return workerDeeds({ random, around }, lifetimeMs)
    }),
    postgres: postgresDeeds(share()),
    queue: queueDeeds(share()),
    service: serviceDeeds(share()),
    hand: handDeeds(share(), hot),
    /** Of the service's faults, or its odd answers. */
    serviceSeed: Math.floor(source() * 2 ** 31),
    /** Of the values with which refused customers are mended in the end. */
    mending: share(),
  }
}
