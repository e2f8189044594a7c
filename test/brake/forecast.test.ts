import { expect, test } from 'vitest'
import type { BrakeKind } from '../../src/brake/brake.ts'
import type { KindCounts } from '../../src/brake/decide.ts'
import { forecastBrake } from '../../src/brake/forecast.ts'

const rules = {
  windowHours: 24,
  changes: { customers: 100, share: 0.01 },
  creates: { customers: 10_000, share: 0.1 },
}
type Case = {
  readonly of: Partial<Record<BrakeKind, number>>
  readonly count?: Partial<KindCounts> & { readonly kind: BrakeKind }
  readonly present?: number
  readonly entitled?: number
  readonly expectCreates?: number | null
  readonly truncated?: boolean
}

/** `kind through/held`, in the order in which they are reported. */
function forecastOf({ of, count, present = 0, entitled = 0, expectCreates = null, truncated = false }: Case) {
  const kindCounts = count ? [{ taken: 0, tripped: false, expected: 0, ...count }] : []
  const asking = { customers: of, kindCounts, bases: { present, entitled }, rules, expectCreates, truncated }
  return forecastBrake(asking).map(({ kind, through, held }) => `${kind} ${through}/${held}`)
}

const LEFT = { kind: 'create', expected: 1500 } as const
const TRIPPED = { kind: 'create', tripped: true, expected: 9 } as const

const NEW = { create: 190_000 }
const LET_THROUGH = { kind: 'create', taken: 1000 } as const
const LOSING = { revocation: 300, status: 10 }
const EMPTIED = { revocation: 3, create: 2 }

test.each<[string, Case, readonly string[]]>([
  ['on a fresh ledger the number is the limit', { of: NEW }, ['create 10000/180000']],
  ['below the limit no customer is held', { of: { create: 9999 } }, ['create 9999/0']],
  ['who was let through counts', { of: { create: 9999 }, count: LET_THROUGH }, ['create 9000/999']],
  // A tenth of those who are there at the end: nearly 900,000 and 100,000.
  ['a share grows', { of: { create: 200_000 }, present: 900_000 }, ['create 99999/100001']],
  ['expected ones come on top', { of: NEW, expectCreates: 170_000 }, ['create 180000/10000']],
  ['all are expected', { of: NEW, expectCreates: 190_000 }, ['create 190000/0']],
  ['left of an earlier number', { of: { create: 12_000 }, count: LEFT }, ['create 11500/500']],
  ['tripped, it holds every customer', { of: { create: 5 }, count: TRIPPED }, ['create 0/5']],
  ['of those with access', { of: LOSING, entitled: 20_000 }, ['revocation 200/100', 'status 10/0']],
  ['after a TRUNCATE', { of: EMPTIED, truncated: true }, ['revocation 0/3', 'create 2/0']],
])('%s', (_, given, expected) => expect(forecastOf(given)).toEqual(expected))
