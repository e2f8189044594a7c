import { expect, test } from 'vitest'
import { makeLookup, openGate } from '../../src/explain/remote.ts'
import { setCeiling } from '../../src/pace/row.ts'
import { makeUsersClient } from '../../src/service/users.ts'
import { freshDatabase } from '../support/database.ts'
import { holdCalls } from '../support/pace-row.ts'

const never = new AbortController().signal

test('while the breaker is open no call is made', async () => {
  await using db = await freshDatabase()
  await setCeiling(db.pool, 100)
  await db.sql(`UPDATE rollcall.pace SET breaker = 'open', opened_at = now(), probe_at = now()`)
  const gate = await openGate({ pool: db.pool, stop: never, patienceMs: 60_000 })
  expect([await gate.pass(), await gate.pass()]).toEqual([false, false])
})

test('a permit that does not come is not waited for, by this customer once and by the next not at all', async () => {
  await using db = await freshDatabase()
  const { pool } = db
  await setCeiling(pool, 100)
  await holdCalls(pool, 3_600_000)
  const patienceMs = 2000
  const gate = await openGate({ pool, stop: never, patienceMs })
  const users = makeUsersClient({
    ...{ origin: 'http://127.0.0.1:1', apiKey: 'k', secretKey: 's' },
    ...{ timeoutMs: 1000, concurrency: 1, allowPlainHttp: false },
  })
  const began = performance.now()
  const { get } = makeLookup({ users, gate, signal: never })
  expect(await get('c', 'c')).toEqual({
    remote: { kind: 'not-asked', why: 'no-permit', waitMs: expect.any(Number) },
    observed: null,
  })
  expect((await gate.shut()).waitMs).toBeGreaterThan(3_500_000)
  const waited = performance.now()
  expect(waited - began).toBeGreaterThanOrEqual(patienceMs - 10)
  expect((await get('d', 'd')).remote).toMatchObject({ why: 'no-permit' })
  expect(performance.now() - waited).toBeLessThan(patienceMs)
  await users.close()
})
