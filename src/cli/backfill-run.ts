import type { Pool } from 'pg'
import { type Announced, announceCreates, cutAnnounced } from '../brake/announce.ts'
import type { Config } from '../config/config.ts'
import { readEnv } from '../config/env.ts'
import { countCustomers } from '../customers/count.ts'
import { describeCustomers } from '../customers/describe.ts'
import { applyGeneration, mappingChanged, readStanding } from '../ledger/generation.ts'
import { checkMigrated } from '../ledger/migrate.ts'
import { differencesFromBinding } from '../ledger/target.ts'
import { RollcallError } from '../model/errors.ts'
import { sleep } from '../ops/time.ts'
import { figure } from '../report/figures.ts'
import { requireCapture } from '../sweep/ready.ts'
import type { Restriction } from '../sweep/restriction.ts'
import { type Begun, type Ran, type RunOptions, runSweep } from '../sweep/run.ts'
import { makeThrottle, pageFor } from '../sweep/throttle.ts'
import { type Digester, makeDigester } from '../sync/digest.ts'
import { policyOf } from '../sync/policy.ts'
import { type Asked, readRestriction } from './backfill-asked.ts'
import { runInTurn } from './backfill-turn.ts'
import { awaitSettled } from './backfill-wait.ts'
import { withPool } from './connect.ts'
import type { ExitCode, Io } from './io.ts'
import { asJson } from './json.ts'
import { openProgress, type Progress } from './progress.ts'
import { type Backfilled, backfillJson, exitOf, sayBackfill } from './say-backfill.ts'

/** `rollcall backfill`: whoever differs is owed a sync; the calls are the workers'. */
export async function runBackfill(io: Io, config: Config, asked: Asked): Promise<ExitCode> {
  const env = readEnv(io.env, {
    need: ['DATABASE_URL', 'SERVICE_URL', 'SERVICE_API_KEY', 'ROLLCALL_DIGEST_KEY'],
  })
  const done = await withPool({ url: env.DATABASE_URL }, async (pool) => {
    await checkMigrated(pool)
    const { SERVICE_URL: origin, SERVICE_API_KEY: apiKey, ROLLCALL_DIGEST_KEY: digestKey } = env
    const differences = await differencesFromBinding(pool, { origin, apiKey, digestKey })
    if (differences.length > 0) throw new RollcallError('TARGET_CHANGED', differences)
    const digester = makeDigester(digestKey)
    const progress = openProgress(io, () => performance.now())
    try {
      return await carryOut({ io, pool, config, asked, digester, digestKey, progress })
    } finally {
      progress.close()
    }
  })
  if (asked.json) io.out(asJson(backfillJson(done)))
  else for (const line of sayBackfill(done)) io.out(line)
  return exitOf(done)
}

type Running = {
  readonly io: Io
  readonly pool: Pool
  readonly config: Config
  readonly asked: Asked
  readonly digester: Digester
  readonly digestKey: string
  readonly progress: Progress
}

/**
 * A mapping is applied first: from then on whoever is claimed is claimed by it, so that nobody can be settled by another
 * one behind the sweep. That sweep is taken up again by a worker, or by this command; a backfill by this command alone.
 */
async function carryOut(running: Running): Promise<Backfilled> {
  const { io, pool, config, asked } = running
  const before = await readStanding(pool, config.fingerprint)
  if (!asked.mapping && before && !before.current) throw mappingChanged(before)
  await requireCapture(pool, config)
  const applied = asked.mapping && (await applyGeneration(pool, config.fingerprint))
  const restriction = await readRestriction(running, asked)
  const heard: Heard = { announced: null, resumed: false }
  const ran = await runInTurn(
    { pool, signal: io.stop, say: running.progress.say, restart: asked.restart },
    asked.mapping ? { kind: 'mapping', fingerprint: config.fingerprint } : { kind: 'backfill', restriction },
    async () => {
      const swept = await runSweep(sweeping(running, restriction, heard))
      if (swept.ended && !asked.mapping) await endAnnouncement(pool, swept, heard)
      return swept
    },
  )
  const waited = asked.wait && ran.ended ? await awaitSettled(running) : null
  const standing = await readStanding(pool, config.fingerprint)
  return { ...ran, ...heard, ...{ waited, standing, applied, mapping: asked.mapping } }
}

type Heard = { announced: Announced | null; resumed: boolean }

/** Also of an earlier command that was stopped: its backfill has ended by this, or was given up for it. */
async function endAnnouncement(pool: Pool, { tally }: Ran, heard: Heard): Promise<void> {
  const { create = 0, lookup = 0 } = tally.plans
  const stands = await cutAnnounced(pool, Math.min(tally.otherUsers, create + lookup))
  if (heard.announced) heard.announced = { ...heard.announced, ...stands }
}

function sweeping(running: Running, restriction: Restriction, heard: Heard): RunOptions {
  const { io, pool, config, asked, digester, progress } = running
  let begun: Begun | null = null
  const throttle = asked.rate === null ? null : throttleFor(running, asked.rate)
  return {
    ...{ pool, config, digester, restriction, signal: io.stop, restart: asked.restart },
    kind: asked.mapping ? 'mapping' : 'backfill',
    ...(asked.rate === null ? {} : { page: pageFor(asked.rate) }),
    count: async () =>
      await countCustomers(pool, await describeCustomers(pool, config), restriction.conditions),
    async onBegin(found) {
      begun = found
      heard.resumed = found.resumed
      if (found.resumed)
        progress.say(`it goes on where it stopped, after ${figure(found.tally.customers)} customers`)
      if (asked.expectCreates === null) return
      const { windowHours } = config.brake
      const announcement = { customers: asked.expectCreates, windowHours, sweep: found.id }
      heard.announced = await announceCreates(pool, announcement)
    },
    async onProgress({ judged, tally }) {
      const { total = null, tally: first } = begun ?? {}
      const note = `${figure(tally.verdicts.differs)} differ`
      const from = first?.customers ?? 0
      progress.show({ verb: 'looked at', done: tally.customers, total, from, note })
      await throttle?.(judged)
    },
  }
}

function throttleFor({ io, config, digester }: Running, rate: number) {
  const now = () => performance.now()
  return makeThrottle({ rate, policy: policyOf(config), digester, now, sleep: (ms) => sleep(ms, io.stop) })
}
