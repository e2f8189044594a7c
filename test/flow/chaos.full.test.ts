// A short run of test/chaos in each lane; `npm run chaos` makes longer ones. CHAOS_SEED and CHAOS_MINUTES choose others.
import { describe, test } from 'vitest'
import { RollcallError } from '../../src/model/errors.ts'
import { runChaos } from '../chaos/run.ts'

const SEED = Number(process.env.CHAOS_SEED ?? 1)
const MINUTES = Number(process.env.CHAOS_MINUTES ?? 0.35)

describe('when everything breaks at once', () => {
  test.for([
    ['redis', 'preset', SEED],
    ['postgres', 'odd', SEED + 1],
  ] as const)(
    'every customer is right, and nothing private got out (%s queue, %s service)',
    async ([lane, service, seed], { expect, skip }) => {
      const result = await run().catch((error: unknown) => {
        if (error instanceof RollcallError && error.code === 'EMBEDDED_UNAVAILABLE') return null
        throw error
      })
      if (!result) return skip('no redis-server on the PATH')
      const again = `npm run chaos -- --minutes ${MINUTES} --seed ${seed} --lane ${lane} --service ${service}`
      expect([...result.findings, ...result.histories].join('\n'), again).toBe('')

      function run() {
        const told: string[] = []
        const signal = new AbortController().signal
        return runChaos({ seed, minutes: MINUTES, lane, service, tell: (what) => told.push(what), signal })
      }
    },
  )
})
