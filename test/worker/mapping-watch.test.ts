import pg from 'pg'
import { expect, test } from 'vitest'
import { makeLog } from '../../src/ops/log.ts'
import { makeMappingWatch } from '../../src/worker/mapping-watch.ts'

test('each step asks, so that none passes for a success while Postgres is down', async () => {
  // Nothing listens on port 1.
  const pool = new pg.Pool({ connectionString: 'postgres://nobody@127.0.0.1:1/db' })
  const mapping = makeMappingWatch({ pool, fingerprint: 'f', log: makeLog('error'), now: () => 0 })
  for (const _ of [1, 2, 3]) await expect(mapping.remind()).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  await pool.end()
})
