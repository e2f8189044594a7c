import { describe, expect, it } from 'vitest'
import { runs } from '../support/size.ts'
import { GUARD_NAMES, GUARDS, without } from './guards.ts'
import { run } from './run.ts'
import { find, tell } from './search.ts'

/** MODEL_RUNS=200000 npx vitest run test/protocol: as many as you have patience for (some 5,000 a second). */
const RUNS = Number(process.env.MODEL_RUNS ?? runs(20_000))
/** The rarest guard shows once in a few thousand runs of its theme. */
const SEARCH = 40_000

describe('the protocol under random interleavings', () => {
  it('ends right with all guards, whatever happens on the way', () => {
    const found = find({ guards: without() }, RUNS)
    if (found) expect.fail(tell(found))
  })

  it('is the same run for the same seed', () => {
    const params = { seed: 7, guards: without('claimMark'), withHistory: true }
    expect(run(params)).toEqual(run(params))
  })

  it.each(GUARD_NAMES)('goes wrong without %s', (guard) => {
    const found = find({ guards: without(guard), theme: GUARDS[guard][1] }, SEARCH)
    expect(found, `no run in ${SEARCH} tells that this is gone: ${GUARDS[guard][0]}`).not.toBeNull()
  })
})
