// A search that finds nothing is worth something only if it finds what is there.
import { expect, inject, test } from 'vitest'
import { freshDatabase } from './database.ts'
import { lanes } from './lanes.ts'
import { connectRedis } from './redis.ts'
import { findLeaks, watchRedis, watchTables } from './secrets.ts'

test('a secret is found in whatever case and spelling', () => {
  const secret = 'Zacarinda@correo'
  const texts = {
    plain: `…zacarinda@CORREO…`,
    address: `?q=${encodeURIComponent(secret)}`,
    hex: Buffer.from(`x${secret}x`).toString('hex'),
    base0: Buffer.from(`${secret} and more`).toString('base64'),
    base1: Buffer.from(`{${secret}`).toString('base64'),
    base2: Buffer.from(`{"${secret}"}`).toString('base64url'),
    none: 'Zacarinda at correo',
  }
  const found = findLeaks(texts, [secret, 'another one']).map(({ place }) => place)
  expect(found).toEqual(Object.keys(texts).filter((place) => place !== 'none'))
})

test.skipIf(!lanes[0]?.available)(
  'what Redis held for a moment is found, and what it holds in any type',
  async () => {
    await using database = await freshDatabase()
    const url = (await lanes[0]?.queueUrl(database)) ?? ''
    await using watched = await watchRedis(url)
    await using session = connectRedis(url)
    const { redis } = session
    await redis.set('moment', 'secret-of-a-moment')
    await redis.del('moment')
    await redis.hset('hash', 'field', 'secret-hash')
    await redis.rpush('list', 'secret-list')
    await redis.sadd('set', 'secret-set')
    await redis.zadd('sorted', 1, 'secret-sorted')
    await redis.xadd('stream', '*', 'field', 'secret-stream')
    const text = await watched.read()
    const secrets = ['moment', 'hash', 'list', 'set', 'sorted', 'stream'].map((what) => `secret-${what}`)
    expect(findLeaks({ text }, ['secret-of-a-moment', ...secrets.slice(1)])).toHaveLength(secrets.length)
    // A queue that still holds the secrets shows them without listening too.
    await using later = await watchRedis(url)
    expect(findLeaks({ text: await later.read() }, secrets.slice(1))).toHaveLength(5)
    expect(inject('servers')?.redis).not.toBeNull()
  },
)

test('a row that a table had for a moment is found', async () => {
  await using database = await freshDatabase()
  const tables = await watchTables(database.pool, 'rollcall')
  await database.pool.query(`INSERT INTO rollcall.outbox (key, lane) VALUES ('secret-key', 1)`)
  await database.pool.query('DELETE FROM rollcall.outbox')
  expect(findLeaks(await tables.read(), ['secret-key'])).toMatchObject([{ place: 'rollcall.outbox' }])
})
