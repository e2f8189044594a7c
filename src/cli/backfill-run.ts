import type { Pool } from 'pg'
import { type Announced, announceCreates, cutAnnounced } from '../brake/announce.ts'
import type { Config } from '../config/config.ts'
import { readEnv } from '../config/env.ts'
import { countCustomers } from '../customers/count.ts'
import { describeCustomers } from '../customers/describe.ts'
import { applyGeneration, mappingChanged, readStanding } from '../ledger/generation.ts'
import { checkMigrated } from '../ledger/migrate.ts'
import { differencesFromBinding } from '../ledger/target.ts'
import { targetChanged } from '../ledger/target-changed.ts'
import { sleep } from '../ops/time.ts'
import { figure } from '../report/figures.ts'
import { namedService } from '../service/target.ts'
import type { Judged } from '../sweep/judge.ts'
import { requireCapture } from '../sweep/ready.ts'
import type { Restriction } from '../sweep/restriction.ts'
import { type BegunSweep, runSweep, type SweepEnd, type SweepingOptions } from '../sweep/run.ts'
import { makeThrottle, pageFor } from '../sweep/throttle.ts'
import { type Digester, makeDigester } from '../sync/digest.ts'
import { policyOf } from '../sync/policy.ts'
import { type BackfillAsked, readRestriction } from './backfill-asked.ts'
import { awaitSettled, runInTurn, type Slice } from './backfill-wait.ts'
import { withPool } from './connect.ts'
import type { ExitCode, Io } from './io.ts'
import { openProgress, type Progress } from './progress.ts'
import { asJson } from './render.ts'
import {
  type Backfilled,
  backfillJson,
  exitOf,
  fitsNobody,
  NOBODY_FITS,
  sayBackfill,
} from './say-backfill.ts'

/** `rollcall backfill`: whoever differs is owed a sync; the calls are the workers'. */
export async function runBackfill(io: Io, config: Config, asked: BackfillAsked): Promise<ExitCode> {
  const env = readEnv(io.env, {
    need: ['DATABASE_URL', 'SERVICE_URL', 'SERVICE_API_KEY', 'ROLLCALL_DIGEST_KEY'],
  })
  const done = await withPool({ url: env.DATABASE_URL }, async (pool) => {
    await checkMigrated(pool)
    const { SERVICE_URL: origin, SERVICE_API_KEY: apiKey, ROLLCALL_DIGEST_KEY: digestKey } = env
    const differences = await differencesFromBinding(pool, { origin, apiKey, digestKey })
    if (differences.length > 0) throw targetChanged(differences)
    const digester = makeDigester(digestKey)
    const progress = openProgress(io, () => performance.now())
    try {
      const target = namedService(origin, config)
      return { ...(await carryOut({ io, pool, config, asked, digester, digestKey, progress })), target }
    } finally {
      progress.close()
    }
  })
  if (asked.json && fitsNobody(done)) io.err(`rollcall: ${NOBODY_FITS}`)
  if (asked.json) io.out(asJson(backfillJson(done)))
  else for (const line of sayBackfill(done)) io.out(line)
  return exitOf(done)
}

type Running = {
  readonly io: Io
  readonly pool: Pool
  readonly config: Config
  readonly asked: BackfillAsked
  readonly digester: Digester
  readonly digestKey: string
  readonly progress: Progress
}

/**
 * A mapping is applied first: from then on whoever is claimed is claimed by it, so that nobody can be settled by another
 * one behind the sweep. That sweep is taken up again by a worker, or by this command; a backfill by this command alone.
 */
async function carryOut(running: Running): Promise<Omit<Backfilled, 'target'>> {
  const { io, pool, config, asked } = running
  const before = await readStanding(pool, config.fingerprint)
  if (!asked.mapping && before && !before.current) throw mappingChanged(before)
  await requireCapture(pool, config)
  const applied = asked.mapping && (await applyGeneration(pool, config.fingerprint))
  const restriction = await readRestriction(running, asked)
  const heard: Heard = { announced: null, resumed: false }
  const ran = await runInTurn(
    {
      ...{ pool, signal: io.stop, say: running.progress.say, restart: asked.restart },
      announces: asked.expectCreates !== null,
    },
    asked.mapping ? { kind: 'mapping', fingerprint: config.fingerprint } : { kind: 'backfill', restriction },
    makeSlices(running, restriction, heard),
  )
  const conditioned = asked.where.length > 0
  const nobody = fitsNobody({ ...ran, conditioned })
  const waited = asked.wait && ran.ended && !nobody ? await awaitSettled(running) : null
  const standing = await readStanding(pool, config.fingerprint)
  return { ...ran, ...heard, ...{ waited, standing, applied, conditioned, mapping: asked.mapping } }
}

type Heard = { announced: Announced | null; resumed: boolean }

/** One that has to take its time lets others look at everybody meanwhile: a gap in capture cannot wait for hours. */
const SLICE_MS = 10_000
/** Longer than a worker takes to ask whether it may. */
const BETWEEN_MS = 2000

function makeSlices(running: Running, restriction: Restriction, heard: Heard): () => Promise<Slice> {
  const { io, asked } = running
  const throttle = asked.rate === null ? null : throttleFor(running, asked.rate)
  let first = true
  return async () => {
    const slice = new AbortController()
    const ends = performance.now() + SLICE_MS
    let leftMs = 0
    const options = sweeping(running, restriction, {
      onBegin: async (begun) => {
        if (first) await hear(running, begun, heard)
        first = false
      },
      async afterPage(judged) {
        if (!throttle) return
        leftMs = await throttle(judged, Math.max(0, ends - performance.now()))
        if (performance.now() >= ends) slice.abort()
      },
    })
    const signal = AbortSignal.any([io.stop, slice.signal])
    const ran = await runSweep({ ...options, signal, restart: first && asked.restart })
    if (ran.ended && !asked.mapping) await endAnnouncement(running.pool, ran, heard)
    const goesOn = !ran.ended && !ran.superseded && slice.signal.aborted
    return { ...ran, goOnAfterMs: goesOn ? Math.max(BETWEEN_MS, leftMs) : null }
  }
}

async function hear(
  { pool, config, asked, progress }: Running,
  begun: BegunSweep,
  heard: Heard,
): Promise<void> {
  heard.resumed = begun.resumed
  if (begun.resumed)
    progress.say(`it goes on where it stopped, after ${figure(begun.tally.customers)} customers`)
  if (asked.expectCreates === null) return
  const { windowHours } = config.brake
  const announcement = { customers: asked.expectCreates, windowHours, sweep: begun.id }
  heard.announced = await announceCreates(pool, announcement)
}

/** Also of an earlier command that was stopped: its backfill has ended by this, or was given up for it. */
async function endAnnouncement(pool: Pool, { tally }: SweepEnd, heard: Heard): Promise<void> {
  const { create = 0, lookup = 0 } = tally.plans
  const stands = await cutAnnounced(pool, Math.min(tally.otherUsers, create + lookup))
  if (heard.announced) heard.announced = { ...heard.announced, ...stands }
}

type Paging = {
  readonly onBegin: (begun: BegunSweep) => Promise<void>
  readonly afterPage: (judged: readonly Judged[]) => Promise<void>
}

function sweeping(
  running: Running,
  restriction: Restriction,
  { onBegin, afterPage }: Paging,
): SweepingOptions {
  const { io, pool, config, asked, digester, progress } = running
  let begun: BegunSweep | null = null
  return {
    ...{ pool, config, digester, restriction, signal: io.stop },
    kind: asked.mapping ? 'mapping' : 'backfill',
    ...(asked.rate === null ? {} : { page: pageFor(asked.rate) }),
    count: async () =>
      await countCustomers(pool, await describeCustomers(pool, config), restriction.conditions),
    async onBegin(found) {
      begun = found
      await onBegin(found)
    },
    async onProgress({ judged, tally }) {
      const { total = null, tally: first } = begun ?? {}
      const note = `${figure(tally.verdicts.differs)} differ`
      const from = first?.customers ?? 0
      progress.show({ verb: 'looked at', done: tally.customers, total, from, note })
      await afterPage(judged)
    },
  }
}

function throttleFor({ io, config, digester }: Running, rate: number) {
  const now = () => performance.now()
  return makeThrottle({ rate, policy: policyOf(config), digester, now, sleep: (ms) => sleep(ms, io.stop) })
}
