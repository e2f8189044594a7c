import type { Pool } from 'pg'
import { brakeNeedsPerson, readBrake } from '../brake/list.ts'
import { collapseOutbox } from '../capture/collapse.ts'
import { openMarks } from '../capture/marks.ts'
import { unfitTables } from '../capture/status.ts'
import type { Config } from '../config/config.ts'
import { findMisfits } from '../customers/describe.ts'
import { quotedName } from '../customers/problems.ts'
import { oneRow } from '../database/client.ts'
import { pruneFindings } from '../drift/found.ts'
import { pruneCalls } from '../ledger/calls.ts'
import { type Binding, readBinding } from '../ledger/target.ts'
import type { Log } from '../ops/log.ts'
import { MISFIT } from './log.ts'

type Options = {
  readonly pool: Pool
  readonly binding: Binding
  readonly config: Config
  readonly log: Log
  readonly now: () => number
}

const TRIPPED = 'SELECT kind FROM rollcall.brake WHERE tripped_at IS NOT NULL'
/** Checks that read the catalog or whole tables are not made every few seconds. */
const SLOW_CHECK_MS = 60_000
/** In one slow check: a ledger that kept calls for long, and is to keep them for short, must not hold up the rest. */
const PRUNED_CALLS = 100_000
const PRUNED_FINDINGS = 10_000
/** A larger outbox is tidied: keys that occur many times over, and pages that are empty. Also one that is half full. */
const LARGE_OUTBOX_MB = 32

/** Tells what needs a person, again as long as it lasts, and tidies the tables. */
export function makeHousekeeping({ pool, binding, config, log, now }: Options) {
  let slowChecked = Number.NEGATIVE_INFINITY
  /** Kinds of the brake that were reported within the last minute. */
  const reported = new Set<string>()

  return async function housekeep(): Promise<void> {
    if ((await readBinding(pool)) !== binding)
      log.error(
        'the target has changed (`rollcall migrate --target`, or a restore): this worker syncs nothing until you start it again',
      )
    await tellMarks()
    const slow = now() - slowChecked >= SLOW_CHECK_MS
    await tellHeld(slow)
    if (!slow) return
    slowChecked = now()
    await tidyOutbox(pool, config.capture.outboxLimitMb)
    await tellUnfit()
    await pruneCalls(pool, config.history.keepDays, PRUNED_CALLS)
    await pruneFindings(pool, config.reconcile.keepDays, PRUNED_FINDINGS)
  }

  async function tellMarks(): Promise<void> {
    for (const { kind, relation, since } of await openMarks(pool)) {
      const truncated =
        'the table was truncated: no customer loses access until a person decides; see `rollcall status`'
      const words =
        kind === 'truncate'
          ? truncated
          : 'capture has a gap (missed changes): a worker compares all customers'
      log.error({ table: relation, since }, words)
    }
  }

  /** As soon as a customer is held, and again every minute as long as one waits. */
  async function tellHeld(again: boolean): Promise<void> {
    if (again) reported.clear()
    const { rows } = await pool.query<{ kind: string }>(TRIPPED)
    if (!again && rows.every(({ kind }) => reported.has(kind))) return
    for (const { kind, held, trippedAt, limit } of (await readBrake(pool)).filter(brakeNeedsPerson)) {
      if (held === 0 || reported.has(kind)) continue
      reported.add(kind)
      const about = { kind, customers: held, since: trippedAt, limit }
      log.error(about, 'the brake holds customers until a person decides: run `rollcall held`')
    }
  }

  async function tellUnfit(): Promise<void> {
    for (const problem of await findMisfits(pool, config)) log.error({ problem }, MISFIT)
    for (const { relation, state, reasons } of await unfitTables(pool, config)) {
      const about = { table: quotedName(relation), state, reasons }
      if (state === 'misnamed')
        log.error(about, 'rollcall may miss changes: correct the configuration or the table')
      else log.error(about, 'rollcall may miss changes: run `rollcall capture install`')
    }
  }
}

async function tidyOutbox(pool: Pool, limitMb: number): Promise<void> {
  const { large, filled } = await oneRow<{ large: boolean; filled: boolean }>(
    pool,
    `SELECT pg_relation_size('rollcall.outbox') > $1 AS large, EXISTS (SELECT FROM rollcall.outbox) AS filled`,
    [Math.min(LARGE_OUTBOX_MB, limitMb / 2) * 1_048_576],
  )
  if (!large) return
  if (filled) await collapseOutbox(pool)
  else await pool.query('VACUUM rollcall.outbox')
}
