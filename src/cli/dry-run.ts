import type { Config } from '../config/config.ts'
import { readEnv } from '../config/env.ts'
import { describeCustomers } from '../customers/describe.ts'
import { makeReadCustomers } from '../customers/read.ts'
import { readStandingIfAny } from '../ledger/generation.ts'
import { makeDryRun } from '../worker/dry-run.ts'
import { withPool } from './connect.ts'
import type { ExitCode, Io } from './io.ts'
import { asJson } from './json.ts'
import { checkPresent, namedKeys } from './named.ts'
import { labelled, sayMapped, sayPlan } from './say-step.ts'
import { shown } from './shown.ts'
import { redacted, untilOf } from './sync-json.ts'

type Asked = {
  readonly config: Config
  /** As typed. */
  readonly keys: readonly string[]
  readonly removed: boolean
  readonly json: boolean
}

/** `rollcall sync --dry-run`: what a sync would do, without a call and without a write. */
export async function dryRun(io: Io, { config, keys: given, removed, json }: Asked): Promise<ExitCode> {
  const env = readEnv(io.env, { need: ['DATABASE_URL'], may: ['ROLLCALL_DIGEST_KEY'] })
  return await withPool({ url: env.DATABASE_URL, stop: io.stop }, async (pool) => {
    const shape = await describeCustomers(pool, config)
    const keys = await namedKeys({ io, pool, shape, keys: given })
    await checkPresent({ pool, found: await makeReadCustomers(config, shape)(pool, keys), removed })
    const run = await makeDryRun({ pool, config, shape, digestKey: env.ROLLCALL_DIGEST_KEY })
    const mappingCurrent = (await readStandingIfAny(pool, config.fingerprint))?.current ?? null
    const results = []
    for (const key of keys) {
      const result = await run(key)
      results.push({ key, ...result, mappingCurrent })
      if (json) continue
      io.out(`customer ${shown(key)} (dry run)`)
      for (const text of sayMapped(result.mapped)) io.out(text)
      io.out(labelled('plan', sayPlan(result.plan)))
      if (result.withoutLedger)
        io.out(
          labelled(
            'note',
            'planned as if nothing had been sent before: no ledger, or no ROLLCALL_DIGEST_KEY',
          ),
        )
      if (mappingCurrent === false)
        io.out(
          labelled('note', 'this mapping is not applied: nothing is sent by it before `backfill --mapping`'),
        )
    }
    if (json)
      io.out(
        asJson(
          results.map(({ mapped, ...shown }) => ({
            ...shown,
            ...untilOf(mapped),
            plan: redacted(shown.plan),
          })),
        ),
      )
    return results.some(({ plan }) => plan.kind === 'reject') ? 3 : 0
  })
}
