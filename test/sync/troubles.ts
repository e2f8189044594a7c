// How the changes of a customer may be captured, and what may happen to calls meanwhile.
import fc from 'fast-check'
import { fault } from '../support/arbitrary.ts'
import { configOf } from '../support/pure-claims.ts'
import type { Fault } from '../support/pure-service.ts'
import type { Change, Troubles } from './timeline.ts'

const DELAYS = [0, 200, 4000, 40_000, 70_000]
const notes = fc.array(fc.constantFrom(...DELAYS), { maxLength: 3 })

export const change = (row: Change['row']): fc.Arbitrary<Change> =>
  fc.record({ row: fc.constant(row), afterMs: fc.constantFrom(...DELAYS), notes })

const late: fc.Arbitrary<Fault> = fc.record({
  kind: fc.constant('late' as const),
  afterMs: fc.constantFrom(1, 5000, 12_000, 30_000),
  outcome: fc.constantFrom('lost' as const, 'killed' as const, 500 as const),
})

const lag = configOf().timing.consistencyDelayMs

export const troubles: fc.Arbitrary<Troubles> = fc.record({
  faults: fc.array(fc.option(fc.oneof(fault, late), { freq: 3 }), { maxLength: 8 }),
  lags: fc.array(fc.constantFrom(0, 0, 100, 1000, lag), { maxLength: 12 }),
  deaths: fc.array(fc.constantFrom(null, null, null, 'first' as const, 'last' as const), { maxLength: 6 }),
})
