import { describe, expect, it } from 'vitest'
import { runs } from '../support/size.ts'
import { without } from './guards.ts'
import { run } from './run.ts'
import { find, tell } from './search.ts'

/** MODEL_RUNS=200000 npx vitest run test/protocol: as many as you have patience for (some 5,000 a second). */
const RUNS = Number(process.env.MODEL_RUNS ?? runs(10_000))

describe('the protocol under random interleavings', () => {
  it(
    'ends right with all guards, whatever happens on the way',
    () => {
      const found = find({ guards: without() }, RUNS)
      if (found) expect.fail(tell(found))
    },
    300_000 + RUNS,
  )

  it('is the same run for the same seed', () => {
    const params = { seed: 7, guards: without('claimMark'), withHistory: true }
    expect(run(params)).toEqual(run(params))
  })
})
