import { type Config, claimLastsMs } from '../config/config.ts'
import { loadConfig } from '../config/load.ts'
import type { Explanation } from '../explain/explain.ts'
import { hasOpenDrift } from '../explain/records.ts'
import { type RedactedStep, redactedStep } from '../explain/redact.ts'
import { makeClaim } from '../ledger/claim.ts'
import { makeStoreEnding } from '../ledger/ending.ts'
import { findMapping, mappingChanged } from '../ledger/generation.ts'
import { readHistory } from '../ledger/history.ts'
import { type Lease, leaseKey, unlease } from '../ledger/lease.ts'
import { note, UNDER_WAY } from '../ledger/note.ts'
import { type CustomerKey, LANE } from '../model/customer.ts'
import { renderService } from '../model/service.ts'
import { sleep, systemClock } from '../ops/time.ts'
import { mayCall } from '../pace/open.ts'
import { namedService } from '../service/address.ts'
import { JUST_WRITTEN } from '../sync/next-plan.ts'
import { BrokenOff, makeSyncLease } from '../sync/run.ts'
import { logCalls } from '../worker/log.ts'
import { explainAll } from './explained.ts'
import type { AddCommand, ExitCode, Io } from './io.ts'
import { checkKnown, namedKeys } from './named.ts'
import { CONFIG_OPTION } from './option-values.ts'
import { asJson, details, shown, span } from './render.ts'
import { renderStep } from './render-step.ts'
import { withSync } from './with-sync.ts'

const EXAMPLES = `
A key is converted to the type of its column: for an integer column 04711 means
4711. A key without a row and without a record in rollcall may be mistyped. For
such a key the command does nothing, and ends with exit code 2. If the row of
this customer was deleted, add --removed.

Examples:
  rollcall sync 4711              sync this customer now and print every step
  rollcall sync 4711 --lookup     read the user by GET first, and undo
                                  edits made by other systems
  rollcall sync '["ES", "4711"]'  a customer with two key columns`

export const syncCommand: AddCommand = (program, io, exit) => {
  program
    .command('sync')
    .option(...CONFIG_OPTION)
    .option('--dry-run', 'make no call and write nothing')
    .addOption(
      program.createOption('--lookup', 'ignore the ledger: read the user by GET first').conflicts('dryRun'),
    )
    .option(
      '--removed',
      'revoke the access of a customer whose row is deleted, even if rollcall has no record of this customer',
    )
    .option('--json', 'print the steps as JSON')
    .argument('<key...>', 'customer keys')
    .addHelpText('after', EXAMPLES)
    .action(async (keys, options) => {
      const config = await loadConfig(options.config, io.cwd)
      const asked = { ...options, config, keys }
      if (options.dryRun)
        return exit(await explainAll(io, { ...asked, view: 'dry-run', call: false }, exitForPlans))
      exit(await syncNow(io, asked))
    })
}

/** 3: a customer cannot be sent as it is; 1: its row could not be read. */
function exitForPlans({ explanations }: { readonly explanations: readonly Explanation[] }): ExitCode {
  if (explanations.some(({ plan }) => plan === null)) return 1
  return explanations.some(({ plan }) => plan?.kind === 'reject') ? 3 : 0
}

type Asked = { readonly [option in 'lookup' | 'removed' | 'json']?: boolean } & {
  readonly config: Config
  readonly keys: readonly string[]
}

/** `rollcall sync <key…>`: past the queue, one customer after the other, each step printed. */
async function syncNow(io: Io, asked: Asked): Promise<ExitCode> {
  const { config, keys: given, lookup = false, removed = false, json = false } = asked
  return await withSync(io, { config, by: 'sync' }, async ({ env, opened, calls, probe }) => {
    const target = namedService(env.SERVICE_URL, config)
    const logCall = logCalls(calls)
    const { pool, context, pace, binding } = opened
    const keys = await namedKeys(io, opened, given)
    const { rows } = await opened.readCustomers(keys)
    if (!removed)
      await checkKnown(
        pool,
        keys.filter((key) => rows.get(key) === null),
      )
    let steps: RedactedStep[] = []
    let drifts = false
    let late: NodeJS.Timeout | undefined
    const waitsFor = (what: string) => {
      clearTimeout(late)
      late = setTimeout(() => say(io, what), LATE_MS)
    }
    const { fingerprint } = config
    const claimLease = makeClaim(pool, { lastsMs: claimLastsMs(config), binding, fingerprint })
    const syncLease = makeSyncLease({
      context,
      async claimLease(lease) {
        const claim = await claimLease(lease)
        return claim && { ...claim, unknown: claim.unknown || lookup || drifts }
      },
      storeEnding: makeStoreEnding(pool, config.timing.gapMs),
      ...{ clock: systemClock, stopping: io.stop, abort: io.stop },
      observe: (key, step) => {
        logCall(key, step)
        const redacted = redactedStep(step)
        clearTimeout(late)
        if (step.step === 'planned') waitsFor(ANSWER)
        steps.push(redacted)
        if (!json) for (const text of renderStep(redacted)) io.out(text)
      },
    })
    const results: { key: CustomerKey; target: typeof target; steps: RedactedStep[] }[] = []
    for (const key of keys) {
      steps = []
      if (!json) io.out(`customer ${shown(key)} at ${renderService(target)}`)
      waitsFor(BEGIN)
      await syncOne(key).finally(() => clearTimeout(late))
      results.push({ key, target, steps })
    }
    if (json) io.out(asJson(results))
    return exitFor(results.map(({ steps }) => steps.at(-1)))

    /** Whether a claim was made; else whether it is worth another try at once. */
    async function attempt(key: CustomerKey, lease: Lease): Promise<'claimed' | 'again' | 'not-now'> {
      const open = await mayCall(pace, probe)
      drifts = hasOpenDrift(await readHistory(pool, key, 0))
      if (open && (await syncLease(lease).catch(unwrapped))) return 'claimed'
      // The next process need not wait for the lease to pass.
      await unlease(pool, [lease])
      const mapping = await findMapping(pool, config.fingerprint)
      if (mapping && !mapping.current) throw mappingChanged(mapping)
      // Its lease had passed before it was claimed, on a machine with much to do.
      return open && (await mayCall(pace, probe)) ? 'again' : 'not-now'
    }

    /** Notes a customer and leases it, past the queue. Nothing shortens the wait for a request that may land late (`not_before`). */
    async function noteAndLease(key: CustomerKey): Promise<Lease | null> {
      const owe = () => note(pool, [{ key, lane: LANE.change, at: new Date() }])
      let saidWaiting = false
      await owe()
      while (!io.stop.aborted) {
        const lease = await leaseKey(pool, key, config.timing.queueLeaseMs)
        if (lease) return lease
        const { rows } = await pool.query<{ busy: boolean; owed: boolean; waitMs: number }>(
          `SELECT ${UNDER_WAY} AS busy, due_at IS NOT NULL AS owed, ${WAIT_MS} AS "waitMs" FROM rollcall.owed o WHERE key = $1`,
          [key],
        )
        if (!rows[0]?.owed) {
          // A worker was quicker and has settled it meanwhile: sync it again, so that the steps can be printed.
          await owe()
          continue
        }
        const { busy, waitMs } = rows[0]
        if (busy || waitMs > 0) {
          if (!saidWaiting) say(io, busy ? BUSY : `waits ${span(waitMs)}, ${EARLIER_CALL}`)
          saidWaiting = true
          clearTimeout(late)
        }
        // At the end of the pause this command has to be as quick as a worker.
        await sleep(busy || waitMs <= 0 ? POLL_MS : Math.min(POLL_MS, waitMs), io.stop)
      }
      return null
    }

    async function syncOne(key: CustomerKey): Promise<void> {
      while (!io.stop.aborted) {
        const lease = await noteAndLease(key)
        const came = lease ? await attempt(key, lease) : 'not-now'
        if (came === 'again') continue
        if (came === 'not-now' && lease && !io.stop.aborted) say(io, PAUSED)
        const waitMs = tooSoon(steps.at(-1))
        if (waitMs === null) return
        await sleep(waitMs, io.stop)
      }
    }
  })
}

function exitFor(ends: readonly (RedactedStep | undefined)[]): ExitCode {
  const states = ends.map((last) =>
    last?.step === 'ended' && last.end.kind === 'settle' ? last.end.state : null,
  )
  if (states.includes(null)) return 1
  return states.every((state) => state === 'idle') ? 0 : 3
}

const LATE_MS = 1500
const BEGIN =
  'rollcall waits for the database, or until the rate limit allows the next call (see `rollcall pace`)'
const ANSWER = 'waits for the answer of the service'
const BUSY = 'waits while a worker syncs this customer'
const EARLIER_CALL =
  'because the last sync has just ended, or an earlier call may still be on its way to the service'
const WAIT_MS = 'coalesce(extract(epoch FROM not_before - clock_timestamp()) * 1000, 0)::float8'

function say(io: Io, text: string): void {
  for (const line of details({ note: text })) io.err(line)
}

const POLL_MS = 100
const PAUSED = 'not synced, because calls to the service are stopped: see `rollcall pace`'

function unwrapped(error: unknown): never {
  throw error instanceof BrokenOff ? error.cause : error
}

/** How long a lookup has to wait; null when it is not what the customer waits for. */
function tooSoon(step: RedactedStep | undefined): number | null {
  if (step?.step !== 'ended' || step.end.kind !== 'retry') return null
  return step.end.reason.code === JUST_WRITTEN ? (step.end.waitMs ?? 0) : null
}
