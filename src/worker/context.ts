import { createHmac } from 'node:crypto'
import type { Pool } from 'pg'
import { makeBrake } from '../brake/reserve.ts'
import { whenNoted } from '../capture/noted.ts'
import { outboxSource } from '../capture/outbox.ts'
import { unwatchedTables } from '../capture/watching.ts'
import type { Config } from '../config/config.ts'
import { type CustomersShape, describeCustomers } from '../customers/describe.ts'
import type { FoundRow } from '../customers/read.ts'
import { makeReading, type Reading } from '../customers/reading.ts'
import { endPool, makePool } from '../database/pool.ts'
import { databaseAt, roleOf } from '../database/session.ts'
import { makeBatch } from '../ledger/batch.ts'
import { doubtStatus } from '../ledger/ending.ts'
import { bindGeneration, type MappingStatus } from '../ledger/generation.ts'
import { checkMigrated } from '../ledger/migrate.ts'
import { reachable } from '../ledger/reachable.ts'
import { makeReadClaimants, makeReadDoubted, makeReadRecord } from '../ledger/record.ts'
import { type Binding, bindTarget } from '../ledger/target.ts'
import type { CustomerKey } from '../model/customer.ts'
import { sleep } from '../ops/time.ts'
import { makeCallSlots } from '../pace/call-slots.ts'
import type { PaceEvent } from '../pace/events.ts'
import { openPace } from '../pace/open.ts'
import { configureCeiling } from '../pace/row.ts'
import { makeUsersClient } from '../service/users.ts'
import type { SyncContext } from '../sync/context.ts'
import { makeDigester } from '../sync/digest.ts'
import { makeWakeWaiting } from '../sync/freed.ts'
import { policyOf } from '../sync/policy.ts'
import { makeNoting } from './noting.ts'

export type Secrets = {
  readonly DATABASE_URL: string
  readonly SERVICE_URL: string
  readonly SERVICE_API_KEY: string
  readonly SERVICE_SECRET_KEY: string
  readonly ROLLCALL_DIGEST_KEY: string
}

export type Opened = {
  readonly pool: Pool
  readonly context: SyncContext
  /** As the mapping reads them; many at once. */
  readonly readCustomers: Reading
  readonly shape: CustomersShape
  readonly warnings: readonly string[]
  readonly binding: Binding
  /** Where our mapping stands; a claim is only made while it is the one that syncs go by. */
  readonly standing: MappingStatus
  /** Names the keys that this process calls with; tells nothing of them. */
  readonly credentials: string
  close(): Promise<void>
}

type Options = {
  readonly config: Config
  readonly env: Secrets
  readonly onPoolError: (error: Error) => void
  /** Told what the configuration names and the database does not have, when customers cannot be read for it. */
  readonly onMisfits?: (misfits: readonly string[]) => void
  /** Told when the pace changes for a reason that a person should hear of. */
  readonly onPace?: (event: PaceEvent) => void
}

/** Connections beside the batches: dispatch, housekeeping, the brake. */
const POOL_SIZE = 8
const DRAIN_ROWS = 1000
/** At the end a query is waited for this long: a table may be locked by somebody else. */
const CUT_MS = 500

/**
 * Opens everything that a sync needs and checks it: the database answers and is migrated, the customers fit
 * the configuration, the ledger is about this service. Throws a RollcallError that says what is wrong.
 */
export async function openSync({
  config,
  env,
  onPoolError,
  onMisfits = () => undefined,
  onPace = () => undefined,
}: Options): Promise<Opened> {
  const users = makeUsersClient({
    origin: env.SERVICE_URL,
    apiKey: env.SERVICE_API_KEY,
    secretKey: env.SERVICE_SECRET_KEY,
    timeoutMs: config.service.timeoutMs,
    concurrency: config.pace.concurrency,
    allowPlainHttp: config.service.allowPlainHttp,
  })
  const pool = makePool({
    url: env.DATABASE_URL,
    max: POOL_SIZE,
    applicationName: 'rollcall',
    onError: onPoolError,
  })
  const credentials = credentialsOf(env)
  const close = async () => {
    await users.close()
    await endPool(pool, CUT_MS)
  }
  try {
    const target = {
      origin: env.SERVICE_URL,
      apiKey: env.SERVICE_API_KEY,
      digestKey: env.ROLLCALL_DIGEST_KEY,
    }
    const role = roleOf(databaseAt(env.DATABASE_URL))
    const opening = async () => {
      await checkMigrated(pool)
      const described = await describeCustomers(pool, config)
      const binding = await bindTarget(pool, target)
      const standing = await bindGeneration(pool, config.fingerprint)
      await configureCeiling(pool, config.pace.ceiling)
      return { described, binding, standing }
    }
    const { described, binding, standing } = await reachable(opening, { role })
    const readMany = makeReading(pool, config, described, { onMisfits })
    const readRow = makeBatch<CustomerKey, FoundRow>(async (keys) => {
      const { rows, unreadable } = await readMany([...new Set(keys)])
      return keys.map((key) => unreadable.get(key) ?? rows.get(key) ?? null)
    })
    const { timing } = config
    const now = () => performance.now()
    const digester = makeDigester(env.ROLLCALL_DIGEST_KEY)
    const context: SyncContext = {
      config,
      policy: policyOf(config),
      users,
      digester,
      ...openPace({ pool, credentials, sleep, now, onChange: onPace }),
      callSlots: makeCallSlots(config.pace.concurrency),
      backoff: { minMs: timing.retryMinMs, maxMs: timing.retryMaxMs },
      random: Math.random,
      readRow,
      readRecord: makeReadRecord(pool),
      readClaimants: makeReadClaimants(pool),
      unwatched: makeUnwatched(pool, config),
      brake: makeBrake(pool, config.brake),
      doubtStatus: (claim) => doubtStatus(pool, claim),
      readDoubted: makeReadDoubted(pool),
      whenNoted: makeWhenNoted(pool, config),
      wakeWaiting: makeWakeWaiting({ pool, config, digester, read: readMany }),
    }
    const { warnings } = described
    const customers = { readCustomers: readMany, shape: described }
    return { pool, context, ...customers, warnings, binding, standing, credentials, close }
  } catch (error) {
    await close()
    throw error
  }
}

function credentialsOf(env: Secrets): string {
  const keys = JSON.stringify(['credentials', env.SERVICE_API_KEY, env.SERVICE_SECRET_KEY])
  return createHmac('sha256', env.ROLLCALL_DIGEST_KEY).update(keys).digest('base64url').slice(0, 22)
}

/** Of many who ask at once one looks. */
function makeUnwatched(pool: Pool, config: Config): () => Promise<readonly string[]> {
  const ask = makeBatch<'now', readonly string[]>(async (asked) => {
    const tables = await unwatchedTables(pool, config)
    return asked.map(() => tables)
  })
  return () => ask('now')
}

/** The same. */
function makeWhenNoted(pool: Pool, config: Config): () => Promise<boolean> {
  const source = outboxSource(pool)
  const note = makeNoting(config)
  const ask = makeBatch<'now', boolean>(async (asked) => {
    const noted = await whenNoted({ pool, sleep, drain: () => source.drain(note, DRAIN_ROWS) })
    return asked.map(() => noted)
  })
  return () => ask('now')
}
