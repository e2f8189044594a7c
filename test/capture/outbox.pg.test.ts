import { describe, expect, test } from 'vitest'
import { collapseOutbox } from '../../src/capture/collapse.ts'
import { drainOutbox, type NoteChanges } from '../../src/capture/outbox.ts'
import { makePool } from '../../src/database/pool.ts'
import { freshDatabase, type TestDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'
import { openScene } from './scene.ts'

/** Counts notes by key in a table of the same database, so that a rolled-back one does not count. */
const COUNTER = 'CREATE TABLE counted (key text, at timestamptz)'
const count: NoteChanges = async (client, changes) => {
  await client.query('INSERT INTO counted SELECT * FROM unnest($1::text[], $2::timestamptz[])', [
    changes.map(({ key }) => key),
    changes.map(({ at }) => at),
  ])
}

test('a sequence that a restore has set back below the rows fails no statement, and loses no change', async () => {
  await using scene = await openScene()
  await scene.sql(COUNTER)
  const insert = (from: number) =>
    scene.db.sql('INSERT INTO customers (id) SELECT $1 + i FROM generate_series(1, 20) i', [from])
  await insert(0)
  await scene.db.sql(`SELECT setval('rollcall.outbox_id_seq', 1, false)`)
  await insert(100)
  await scene.db.sql(`UPDATE customers SET email = 'b' WHERE id <= 20`)
  await scene.db.sql(
    `INSERT INTO rollcall.outbox (id, key, lane) VALUES (7, 'twice', 1), (7, 'twice', 0), (8, 'twice', 1)`,
  )
  await collapseOutbox(scene.db.pool, 7)
  while ((await drainOutbox(scene.db.pool, count, 7)) > 0);
  const { rows } = await scene.db.sql('SELECT count(DISTINCT key)::int AS keys FROM counted')
  expect(rows).toEqual([{ keys: 41 }])
})

describe('drain', () => {
  test('beside writers and other drains, some of which fail: nothing is lost and nothing is noted twice', async () => {
    await using scene = await openScene()
    await scene.sql(COUNTER)
    const writers = 4
    const each = 200
    let writing = writers
    const write = async (writer: number) => {
      for (let i = 0; i < each; i += 1) {
        await scene.db.sql('INSERT INTO customers (id) VALUES ($1)', [writer * each + i])
      }
      writing -= 1
    }
    let turn = 0
    const flaky: NoteChanges = async (client, changes) => {
      await count(client, changes)
      turn += 1
      if (turn % 5 === 0) throw new Error('the process was killed')
    }
    const drain = async () => {
      for (;;) {
        const last = writing === 0
        const moved = await drainOutbox(scene.db.pool, flaky, 7).catch(() => 1)
        if (last && moved === 0) return
      }
    }
    await Promise.all([...Array.from({ length: writers }, (_, i) => write(i)), drain(), drain(), drain()])
    const { rows } = await scene.db.sql(
      'SELECT count(*)::int AS notes, count(DISTINCT key)::int AS keys FROM counted',
    )
    expect(rows).toEqual([{ notes: writers * each, keys: writers * each }])
  })

  test('does not wait for another drain that is under way', async () => {
    await using db = await freshDatabase()
    await db.sql(`INSERT INTO rollcall.outbox (key, lane) SELECT i::text, 1 FROM generate_series(1, 10) i`)
    const meanwhile: number[] = []
    await drainOutbox(
      db.pool,
      async () => {
        meanwhile.push(
          await drainOutbox(db.pool, async () => undefined, 6),
          await drainOutbox(db.pool, async () => undefined, 6),
        )
      },
      6,
    )
    expect(meanwhile).toEqual([4, 0])
  })

  test('of a process that is suspended gives its rows back after seconds', async () => {
    await using db = await freshDatabase()
    await db.sql(`INSERT INTO rollcall.outbox (key, lane) VALUES ('a', 1)`)
    const pool = makePool({ url: db.url, max: 1, applicationName: 'suspended', onError: () => undefined })
    const suspended = drainOutbox(
      pool,
      // Patience below the minute after which a session of ours ends anyway.
      async () =>
        void (await until(() => drainOutbox(db.pool, async () => undefined, 1), { patience: 30_000 })),
      1,
    )
    await expect(suspended).rejects.toThrow(/connection/)
    await pool.end()
  })

  test('hands over the time of the earliest change, whatever the zone of the session', async () => {
    await using db = await freshDatabase()
    await db.sql(`INSERT INTO rollcall.outbox (key, lane, at) VALUES
      ('a', 1, '2026-03-29 02:30:00.125+01'), ('a', 0, '2026-03-29 05:00:00Z')`)
    const changes: unknown[] = []
    await drainOutbox(db.pool, async (_, some) => void changes.push(...some), 10)
    expect(changes).toEqual([{ key: 'a', lane: 0, at: new Date('2026-03-29T01:30:00.125Z') }])
  })
})

describe('collapse', () => {
  const fill = (db: TestDatabase) =>
    db.sql(`INSERT INTO rollcall.outbox (key, lane, at)
      SELECT 'k' || i % 50, CASE WHEN i = 731 THEN 0 ELSE 1 END, '2026-01-01Z'::timestamptz + i * interval '1 s'
      FROM generate_series(0, 999) i`)

  test('leaves one row of each key, with its most urgent lane and its earliest time', async () => {
    await using db = await freshDatabase()
    await fill(db)
    expect(await collapseOutbox(db.pool, 100)).toBe(950)
    const { rows } = await db.sql(
      `SELECT key, lane, extract(epoch FROM at - '2026-01-01Z')::int AS second FROM rollcall.outbox ORDER BY id`,
    )
    expect(rows).toEqual(
      Array.from({ length: 50 }, (_, i) => ({ key: `k${i}`, lane: i === 31 ? 0 : 1, second: i })),
    )
    expect(await collapseOutbox(db.pool, 100)).toBe(0)
  })

  test('does not count on rows that a drain has taken and may give back', async () => {
    await using db = await freshDatabase()
    await fill(db)
    const failing = drainOutbox(
      db.pool,
      async () => {
        await collapseOutbox(db.pool, 100)
        throw new Error('the process was killed')
      },
      500,
    )
    await expect(failing).rejects.toThrow('killed')
    const { rows } = await db.sql(
      'SELECT count(*)::int AS rows, count(DISTINCT key)::int AS keys FROM rollcall.outbox',
    )
    expect(rows).toEqual([{ rows: 550, keys: 50 }])
  })

  test('beside drains and writers every key is noted at least once after its last change', async () => {
    await using db = await freshDatabase()
    await db.sql(COUNTER)
    let busy = true
    const keys = Array.from({ length: 20 }, (_, i) => `k${i}`)
    const write = async () => {
      for (let i = 0; i < 100; i += 1) {
        await db.sql(`INSERT INTO rollcall.outbox (key, lane) SELECT unnest($1::text[]), 1`, [keys])
      }
      busy = false
    }
    const drain = async () => {
      for (;;) {
        const last = !busy
        if ((await drainOutbox(db.pool, count, 13)) === 0 && last) return
      }
    }
    const collapse = async () => {
      while (busy) await collapseOutbox(db.pool, 100)
    }
    await Promise.all([write(), drain(), drain(), collapse(), collapse()])
    await drainOutbox(db.pool, count, 10_000)
    const { rows } = await db.sql('SELECT count(DISTINCT key)::int AS keys FROM counted')
    expect(rows).toEqual([{ keys: 20 }])
    expect((await db.sql('SELECT FROM rollcall.outbox')).rowCount).toBe(0)
  })
})
