import { makeBrake } from '../brake/reserve.ts'
import { drainOutbox } from '../capture/outbox.ts'
import { unwatchedTables } from '../capture/status.ts'
import { whenNoted } from '../capture/when-noted.ts'
import type { Config } from '../config/config.ts'
import { describeCustomers } from '../customers/describe.ts'
import { type FoundRow, makeReading } from '../customers/read.ts'
import { makeBatch } from '../database/batch.ts'
import { endPool, makePool } from '../database/pool.ts'
import { databaseAt, roleOf } from '../database/session.ts'
import { bindGeneration } from '../ledger/generation.ts'
import { checkMigrated } from '../ledger/migrate.ts'
import { makeNoting } from '../ledger/note.ts'
import { reachable } from '../ledger/reachable.ts'
import { makeReadRecord, makeReadRecordsOf } from '../ledger/record.ts'
import { bindTarget } from '../ledger/target.ts'
import { endDiscard, makeMarkAsked, markStatusUnknown } from '../ledger/traces.ts'
import type { CustomerKey } from '../model/customer.ts'
import { sleep } from '../ops/time.ts'
import type { PaceEvent } from '../pace/events.ts'
import { openPace } from '../pace/open.ts'
import { configureCeiling } from '../pace/row.ts'
import { makeUsersClient } from '../service/users.ts'
import type { SyncContext } from '../sync/context.ts'
import { makeDigester } from '../sync/digest.ts'
import { makeWakeWaiting } from '../sync/freed.ts'
import { userIdFor } from '../sync/map.ts'

type SecretName =
  | 'DATABASE_URL'
  | 'SERVICE_URL'
  | 'SERVICE_API_KEY'
  | 'SERVICE_SECRET_KEY'
  | 'ROLLCALL_DIGEST_KEY'
export type Secrets = Readonly<Record<SecretName, string>>

export type Opened = Awaited<ReturnType<typeof openSync>>

type Options = {
  readonly config: Config
  readonly env: Secrets
  readonly onPoolError: (error: Error) => void
  /** Called with what the configuration names and the database does not have, when customers cannot be read for it. */
  readonly onMisfits?: (misfits: readonly string[]) => void
  /** Called when the pace changes for a reason that a person should hear of. */
  readonly onPace?: (event: PaceEvent) => void
  /** Called with the number of rows that were taken from the outbox, by the dispatch or before a customer loses access. */
  readonly onCaptured?: (changes: number) => void
}

/** Connections beside the batches: dispatch, housekeeping, the brake. */
const POOL_SIZE = 8
/** Rows of the outbox that one transaction moves. */
const DRAIN_ROWS = 1000
/** Reads of customers at once: a view of the application may take long for each of them. */
const READS_AT_ONCE = 3
/** At the end a query is waited for this long: a table may be locked by another session. */
const CUT_MS = 500

/**
 * Opens everything that a sync needs and checks it: the database answers and is migrated, the customers fit
 * the configuration, the ledger is about this service. Throws a RollcallError that says what is wrong.
 */
export async function openSync(options: Options) {
  const { config, env, onPoolError, onMisfits = () => undefined, onPace = () => undefined } = options
  const users = makeUsersClient({
    ...{ origin: env.SERVICE_URL, apiKey: env.SERVICE_API_KEY, secretKey: env.SERVICE_SECRET_KEY },
    ...{ timeoutMs: config.service.timeoutMs, allowPlainHttp: config.service.allowPlainHttp },
    concurrency: config.pace.concurrency,
  })
  const url = env.DATABASE_URL
  const pool = makePool({ url, max: POOL_SIZE, applicationName: 'rollcall', onError: onPoolError })
  const close = async () => {
    await users.close()
    await endPool(pool, CUT_MS)
  }
  const check = async () => {
    await checkMigrated(pool)
    const shape = await describeCustomers(pool, config)
    const keys = { apiKey: env.SERVICE_API_KEY, digestKey: env.ROLLCALL_DIGEST_KEY }
    const binding = await bindTarget(pool, { origin: env.SERVICE_URL, ...keys })
    // A claim is only made while our mapping is active.
    const mapping = await bindGeneration(pool, config.fingerprint)
    await configureCeiling(pool, config.pace.ceiling)
    return { shape, warnings: shape.warnings, binding, mapping }
  }
  try {
    const checked = await reachable(check, { role: roleOf(databaseAt(url)) })
    const readCustomers = makeReading(pool, config, checked.shape, onMisfits)
    const reading = (others: boolean) =>
      makeBatch<CustomerKey, FoundRow>(
        async (keys) => {
          const { rows, unreadable } = await readCustomers([...new Set(keys)])
          const unread = (key: CustomerKey) =>
            others && unreadable.has(key) ? 'ambiguous' : unreadable.get(key)
          return keys.map((key) => unread(key) ?? rows.get(key) ?? null)
        },
        { atOnce: READS_AT_ONCE },
      )
    const note = makeNoting((key) => userIdFor(config, key))
    const drain = async () => {
      const changes = await drainOutbox(pool, note, DRAIN_ROWS)
      if (changes > 0) options.onCaptured?.(changes)
      return changes
    }
    const digester = makeDigester(env.ROLLCALL_DIGEST_KEY)
    const pace = openPace({
      ...{ pool, sleep, now: () => performance.now(), random: Math.random, onChange: onPace },
      timeoutMs: config.service.timeoutMs,
    })
    const context: SyncContext = {
      ...{ config, users, digester, random: Math.random },
      ...{ permits: pace.permits, report: pace.report },
      readRow: reading(false),
      readOther: reading(true),
      readRecord: makeReadRecord(pool),
      readRecordsOf: makeReadRecordsOf(pool),
      unwatched: once(() => unwatchedTables(pool, config)),
      brake: makeBrake(pool, config.brake),
      markStatusUnknown: (claim) => markStatusUnknown(pool, claim),
      endDiscard: (claim) => endDiscard(pool, claim),
      markAsked: makeMarkAsked(pool),
      whenNoted: once(() => whenNoted({ pool, sleep, drain })),
      wakeWaiting: makeWakeWaiting({ pool, config, digester, read: readCustomers }),
    }
    return { pool, context, drain, pace, readCustomers, ...checked, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Callers that ask at the same time get one answer. */
function once<T>(ask: () => Promise<T>): () => Promise<T> {
  const batch = makeBatch<'now', T>(async (asked) => {
    const answer = await ask()
    return asked.map(() => answer)
  })
  return () => batch('now')
}
