// Customers of whom all is done, and tables that many syncs have used.
import type pg from 'pg'
import type { Config } from '../src/config/config.ts'
import { makePool } from '../src/database/pool.ts'
import { makeClaim } from '../src/ledger/claim.ts'
import { makeStoreEnding } from '../src/ledger/ending.ts'
import { bindGeneration, markSwept } from '../src/ledger/generation.ts'
import { leaseLane } from '../src/ledger/lease.ts'
import { note } from '../src/ledger/note.ts'
import { makeReadRecord } from '../src/ledger/record.ts'
import { bindTarget } from '../src/ledger/target.ts'
import { LANE } from '../src/model/customer.ts'
import { forCustomer, makeDigester } from '../src/sync/digest.ts'
import { mapCustomer } from '../src/sync/map.ts'
import { endingOf } from '../test/support/ending.ts'
import { KEYS } from './house.ts'

/** As claims would have left all customers of the table, written in bulk: a million calls are not what is measured. */
export async function settleAll(url: string, config: Config): Promise<void> {
  // The product's own, which reads dates as it does.
  const pool = makePool({ url, max: 2, statementTimeoutMs: 0, onError: () => undefined })
  const { generation } = await bindGeneration(pool, config.fingerprint)
  await markSwept(pool, generation)
  const digester = makeDigester(KEYS.digestKey)
  const now = new Date()
  for (let after = ''; ; ) {
    const { rows } = await pool.query(
      'SELECT * FROM public.customers WHERE id > $1 ORDER BY id LIMIT 10000',
      [after],
    )
    if (rows.length === 0) break
    after = rows.at(-1).id
    const records = rows.map((row) => {
      const mapped = mapCustomer(config, { key: row.id, row, now })
      if (mapped.kind !== 'user') throw new Error('all rows are users here')
      const digests = forCustomer(digester, row.id)
      const fields = Object.entries(mapped.user.fields) as [Parameters<typeof digests.exact>[0], string][]
      const sent = Object.fromEntries(fields.map(([field, value]) => [field, digests.exact(field, value)]))
      return { key: row.id, sent, desired: digester.ofCustomer(row.id, mapped, config.clearWith) }
    })
    await pool.query(
      `INSERT INTO rollcall.ledger (key, user_id, remote, sent_status, sent, digest_key, state, desired, generation)
       SELECT key, key, 'present', 2, sent, $2, 'idle', desired, $3
       FROM jsonb_to_recordset($1::jsonb) AS r (key text, sent jsonb, desired text)`,
      [JSON.stringify(records), digester.id, generation],
    )
  }
  await pool.query(
    'INSERT INTO rollcall.owed (key, change_version, synced_version, lane) SELECT key, 1, 1, 3 FROM rollcall.ledger ORDER BY key',
  )
  await pool.query('VACUUM ANALYZE')
  await pool.end()
}

const AT_ONCE = 1000

/** So many syncs of customers at random, all but the calls: captured, leased, claimed, read and ended by our own statements. */
export async function age(pool: pg.Pool, config: Config, origin: string, syncs: number): Promise<void> {
  const { apiKey, digestKey } = KEYS
  const binding = await bindTarget(pool, { origin, apiKey, digestKey })
  const claim = makeClaim(pool, { lastsMs: 60_000, binding, fingerprint: config.fingerprint })
  const end = makeStoreEnding(pool, config.timing.gapMs)
  const readRecord = makeReadRecord(pool)
  const customers = (await pool.query('SELECT count(*)::int AS n FROM customers')).rows[0].n
  for (let done = 0; done < syncs; done += AT_ONCE) {
    const keys = Array.from({ length: AT_ONCE }, () => `k${1 + Math.floor(Math.random() * customers)}`)
    const changed = [...new Set(keys)].sort().map((key) => ({ key, lane: LANE.change, at: new Date() }))
    await note(pool, changed)
    const leases = await leaseLane(pool, { lane: LANE.change, leaseMs: 60_000, limit: AT_ONCE })
    await Promise.all(
      leases.map(async (lease) => {
        const claimed = await claim(lease)
        if (!claimed) throw new Error('another process takes leases')
        const record = await readRecord(claimed.key)
        await end(endingOf(lease.id, { claim: claimed, record, desiredDigest: record.desiredDigest }))
      }),
    )
  }
}
