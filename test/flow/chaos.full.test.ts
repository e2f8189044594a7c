// A short run of test/chaos in each lane; `npm run chaos` makes longer ones. CHAOS_SEED and CHAOS_MINUTES choose others.
import { expect, test } from 'vitest'
import { runChaos } from '../chaos/run.ts'
import { eachLane } from '../support/lanes.ts'

const SEED = Number(process.env.CHAOS_SEED ?? 1)
const MINUTES = Number(process.env.CHAOS_MINUTES ?? 0.25)

eachLane('when everything breaks at once', ({ name: lane }) => {
  test('every customer is right, and no two claims live', async () => {
    const { signal } = new AbortController()
    const { findings } = await runChaos({ seed: SEED, minutes: MINUTES, lane, tell: () => undefined, signal })
    expect(findings.join('\n'), `npm run chaos -- --minutes ${MINUTES} --seed ${SEED} --lane ${lane}`).toBe(
      '',
    )
  })
})
