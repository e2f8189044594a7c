import type { ClientBase } from 'pg'
import { expect, test } from 'vitest'
import { makeBrake } from '../../src/brake/reserve.ts'
import { makePool } from '../../src/database/pool.ts'
import { inTransaction } from '../../src/database/transaction.ts'
import { limits } from '../brake/scene.ts'
import { freshDatabase } from '../support/database.ts'

test('a process that is suspended while it has the rows does not hold up the others for ever', async () => {
  await using db = await freshDatabase()
  const pool = makePool({ url: db.url, max: 2, applicationName: 'suspended', onError: () => undefined })
  const brake = makeBrake(db.pool, limits(2))
  const ask = () => brake({ key: 'b', desiredDigest: 'd', kinds: ['revocation'] }).catch(({ code }) => code)
  await brake({ key: 'a', desiredDigest: 'd', kinds: ['revocation'] })
  const resumed = Promise.withResolvers<void>()
  const suspended = inTransaction(pool, 2000, async (client) => {
    await client.query('SELECT FROM rollcall.brake FOR UPDATE')
    await resumed.promise
    await client.query('SELECT')
  }).catch((error: Error) => error)
  await expect.poll(ask).toBe('55P03')
  await expect.poll(ask).toEqual([])
  resumed.resolve()
  expect(await suspended).toBeInstanceOf(Error)
  await pool.end()
})

test('a transaction that fails is rolled back before its error is thrown, and keeps no connection', async () => {
  await using db = await freshDatabase()
  for (let i = 0; i < 12; i += 1) {
    const sessions: ClientBase[] = []
    const failing = inTransaction(db.pool, 0, (client) => {
      sessions.push(client)
      return client.query('SELECT 1 / 0')
    })
    await expect(failing).rejects.toThrow('zero')
    expect(sessions[0]?.getTransactionStatus()).toBe('I')
  }
})
