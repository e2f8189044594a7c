import type { Pool } from 'pg'
import { cutExpected, type Expected, readExpected, setExpected } from '../brake/expected.ts'
import { describeCustomers } from '../customers/describe.ts'
import { countCustomers } from '../customers/pages.ts'
import { applyGeneration, findMapping, mappingChanged } from '../ledger/generation.ts'
import { readOpen, readOverview } from '../ledger/overview.ts'
import { readOtherBackfill } from '../ledger/runs.ts'
import { requireTarget } from '../ledger/target.ts'
import { LANE } from '../model/customer.ts'
import { RollcallError } from '../model/errors.ts'
import { sleep } from '../ops/time.ts'
import { counted, figure } from '../report/figures.ts'
import { namedService } from '../service/address.ts'
import { makeThrottle, pageFor } from '../sweep/forecast.ts'
import { type BegunSweep, type Restriction, requireCapture, runSweep, type SweepEnd } from '../sweep/run.ts'
import { type Digester, makeDigester } from '../sync/digest.ts'
import { type Asking, activeMapping, fitsNone, readRestriction } from './backfill-asked.ts'
import { BINDING_ENV } from './binding.ts'
import { withDatabase } from './connect.ts'
import { inTurn, NOT_SWEPT } from './in-turn.ts'
import type { Io } from './io.ts'
import { OTHERS_SWEEP } from './render-sweeps.ts'

type Running = Asking & {
  readonly io: Io
  readonly pool: Pool
  readonly digester: Digester
  readonly restriction: Restriction
}

/**
 * `rollcall backfill`: customers that differ are owed a sync; the calls are the workers'. A mapping is applied first, so that no
 * customer can be settled by another one behind the sweep.
 */
export async function runBackfill(io: Io, { config, asked, progress }: Asking) {
  return await withDatabase(io, { need: BINDING_ENV, endsItself: true }, async (pool, env) => {
    const { SERVICE_URL: origin, SERVICE_API_KEY: apiKey, ROLLCALL_DIGEST_KEY: digestKey } = env
    await requireTarget(pool, { origin, apiKey, digestKey })
    const before = await findMapping(pool, config.fingerprint)
    if (!asked.mapping && before && !before.current) throw mappingChanged(before)
    await requireCapture(pool, config)
    const applied = asked.mapping && (await applyGeneration(pool, config.fingerprint))
    const restriction = await readRestriction({ pool, config, digestKey }, asked)
    const digester = makeDigester(digestKey)
    const running = { io, pool, config, asked, digester, restriction, progress }
    const { tally, ...ran } = await sweepAfterOthers(running)
    const waits = asked.wait && ran.ended && !fitsNone({ ...ran, ...tally }, asked)
    const waited = waits ? await awaitSettled(running) : null
    const mapping = await findMapping(pool, config.fingerprint)
    const about = {
      target: namedService(origin, config),
      dryRun: false,
      ...activeMapping(mapping),
    } as const
    // The registrations that passed meanwhile have used it up.
    const expected = ran.expected && { ...ran.expected, ...(await readExpected(pool)) }
    return { ...about, applied, ...ran, expected, waited, ...tally }
  })
}

/** @throws RollcallError SWEEP_RUNNING where another backfill is under way that is not the same */
async function sweepAfterOthers(running: Running) {
  const { io, pool, asked, restriction } = running
  const say = () => io.err('another backfill is under way: this command waits until it ends')
  const onWait = async () => {
    if (asked.mapping) return
    const other = await readOtherBackfill(pool, restriction.options)
    if (other && (asked.restart || asked.expectCreates !== null || !other.same))
      throw new RollcallError('SWEEP_RUNNING')
  }
  const done = await inTurn({ pool, signal: io.stop, say, onWait }, 'backfill', () => sweepInSlices(running))
  return done ?? { ...NOT_SWEPT, resumed: false, expected: null }
}

/** A slow one lets others plan all customers meanwhile: a gap in capture cannot wait for hours. */
const SLICE_MS = 10_000
/** Longer than a worker takes to ask whether it may. */
const BETWEEN_MS = 2000

async function sweepInSlices(running: Running) {
  const { io, pool, config, asked, digester, restriction, progress } = running
  const signal = io.stop
  const say = () => io.err(OTHERS_SWEEP)
  const now = () => performance.now()
  const throttling = { policy: config, digester, now, sleep: (ms: number) => sleep(ms, signal) }
  const throttle = asked.rate === null ? null : makeThrottle({ ...throttling, rate: asked.rate })
  const so = {
    ran: NOT_SWEPT,
    /** Before the next one; null: there is none. */
    pauseMs: 0 as number | null,
    begun: null as BegunSweep | null,
    expected: null as Expected | null,
  }
  while (so.pauseMs !== null && !signal.aborted) {
    await sleep(so.pauseMs, signal)
    if (!(await inTurn({ pool, signal, say }, 'sweep', sweepSlice))) break
  }
  const { ran, begun, expected } = so
  const { otherUsers, plans } = ran.tally
  const needed = Math.min(otherUsers, (plans.create ?? 0) + (plans.lookup ?? 0))
  // Also of an earlier command that was stopped: its backfill has ended by this, or was given up for it.
  const left = ran.ended && !asked.mapping ? await cutExpected(pool, needed) : null
  return { ...ran, resumed: begun?.resumed ?? false, expected: expected && { ...expected, ...left } }

  async function onBegin(found: BegunSweep): Promise<void> {
    if (so.begun) return
    so.begun = found
    const { resumed, tally, id } = found
    if (resumed)
      io.err(
        `this command continues the unfinished backfill (${counted(tally.customers, 'customer')} done); --restart starts over`,
      )
    const { windowHours } = config.brake
    const { expectCreates: customers } = asked
    if (customers !== null) so.expected = await setExpected(pool, { customers, windowHours, sweep: id })
  }

  async function sweepSlice(): Promise<SweepEnd> {
    const slice = new AbortController()
    const ends = now() + SLICE_MS
    let leftMs = 0
    so.ran = await runSweep({
      ...{ pool, config, digester, restriction, kind: asked.mapping ? 'mapping' : 'backfill' },
      ...(asked.rate === null ? {} : { page: pageFor(asked.rate) }),
      signal: AbortSignal.any([signal, slice.signal]),
      restart: asked.restart && !so.begun,
      count: async () =>
        await countCustomers(pool, await describeCustomers(pool, config), restriction.conditions),
      onBegin,
      async onProgress({ planned, tally }) {
        const { total = null, tally: first } = so.begun ?? {}
        const note = `${figure(tally.verdicts.differs)} differ`
        progress.show({ verb: 'compared', done: tally.customers, total, from: first?.customers ?? 0, note })
        if (!throttle) return
        leftMs = await throttle(planned, Math.max(0, ends - now()))
        if (now() >= ends) slice.abort()
      },
    })
    const goesOn = !so.ran.ended && !so.ran.superseded && slice.signal.aborted
    so.pauseMs = goesOn ? Math.max(BETWEEN_MS, leftMs) : null
    return so.ran
  }
}

const POLL_MS = 500
/** No customer was settled for so long: the person who waits is informed. */
const QUIET_MS = 20_000
const QUIET = 'no customer was settled for 20 s: check that a worker runs (`rollcall status`)'

/**
 * Waits until no customer is owed a sync in the lane of a backfill, but for those who fail again and again. A rejected or
 * held customer is owed none: waiting changes nothing for it.
 */
async function awaitSettled({ io, pool, progress }: Running) {
  let total = 0
  let last = { open: -1, at: performance.now(), reported: false }
  for (;;) {
    const { open, failAgain } = await readOpen(pool, LANE.backfill)
    if (open === 0 || io.stop.aborted) {
      const { customers, states, reasons } = await readOverview(pool)
      return { ended: open === 0, open: open + failAgain, customers, states, reasons }
    }
    const quiet = open === last.open && performance.now() - last.at > QUIET_MS
    if (quiet && !last.reported) io.err(QUIET)
    if (quiet) last.reported = true
    if (open !== last.open) last = { ...last, open, at: performance.now() }
    total = Math.max(total, open + failAgain)
    const note = failAgain > 0 ? `${failAgain} fail repeatedly` : ''
    progress.show({ verb: 'handled', done: total - open - failAgain, total, note })
    await sleep(POLL_MS, io.stop)
  }
}
