// Customers that a scheduled run hands over to be checked, with real tables; what a check says is given here.
import { expect, test } from 'vitest'
import type { CheckedBatch } from '../../src/drift/checking.ts'
import { makeScheduledRun } from '../../src/drift/scheduled.ts'
import { alone } from '../../src/ledger/alone.ts'
import { bindGeneration, markSwept } from '../../src/ledger/generation.ts'
import { bindTarget } from '../../src/ledger/target.ts'
import type { CustomerKey } from '../../src/model/customer.ts'
import { configureCeiling, currentRate } from '../../src/pace/row.ts'
import { keys, put, type Row } from '../brake/scene.ts'
import { freshDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

const TARGET = { origin: 'https://service.test', apiKey: 'k', digestKey: 'a-digest-key-of-thirty-two-chars!' }
const HOUR = 3_600_000

/** `stops`: at which batches the pace stops it. */
async function scene(rows: readonly Row[], stops: ReadonlySet<number> = new Set(), most = 4) {
  const db = await freshDatabase()
  const { pool } = db
  await configureCeiling(pool, 4000)
  const binding = await bindTarget(pool, TARGET)
  const { generation } = await bindGeneration(pool, 'ours')
  await markSwept(pool, generation)
  await put(pool, rows)
  const batches: (readonly CustomerKey[])[] = []
  let now = 0
  const check = async (asked: readonly CustomerKey[]): Promise<CheckedBatch> => {
    batches.push([...asked].sort())
    return { checked: [], stopped: stops.has(batches.length) ? 'pace' : null }
  }
  const run = makeScheduledRun({
    ...{ pool, binding, fingerprint: 'ours', pace: { rate: () => currentRate(pool) }, check },
    ...{ periodMs: 10 * HOUR, lastsMs: 2000, most },
    sleep: async (ms) => {
      now += ms
    },
    now: () => now,
    signal: new AbortController().signal,
  })
  return { pool, run, batches, [Symbol.asyncDispose]: () => db.drop() }
}

const good = (key: string): Row => ({ key, sent: 2 })

/** When they were asked about last, in hours before now. */
async function askedAgo(
  { pool }: Pick<Awaited<ReturnType<typeof scene>>, 'pool'>,
  hours: Readonly<Record<CustomerKey, number>>,
) {
  for (const [key, ago] of Object.entries(hours))
    await pool.query(`UPDATE rollcall.ledger SET asked_at = now() - $2 * interval '1 hour' WHERE key = $1`, [
      key,
      ago,
    ])
}

test('every customer about which a check can say something is taken once, a few at once', async () => {
  await using it = await scene([
    ...keys(6).map(good),
    { key: 'a-rejected', sent: 2, state: 'rejected' },
    { key: 'b-never-asked', remote: 'unasked' },
  ])
  expect(await it.run()).toBe('rest')
  expect(Math.max(...it.batches.map((batch) => batch.length))).toBe(4)
  expect(it.batches.flat().sort()).toEqual(keys(6))
  expect(await it.run()).toBe('rest')
  expect(it.batches.flat()).toHaveLength(6)
})

test('those who were asked about longest ago come first, and none much before the period is over', async () => {
  await using it = await scene(keys(8).map(good), new Set(), 2)
  const [never = '', future = '', oldest = '', older = '', old = '', recent = '', lately = '', now = ''] =
    keys(8)
  await askedAgo(it, {
    [future]: -5,
    [oldest]: 30,
    [older]: 20,
    [old]: 9.5,
    [recent]: 8,
    [lately]: 1,
    [now]: 0,
  })
  expect(await it.run()).toBe('rest')
  expect(it.batches).toEqual([[never], [future, oldest].sort(), [older, old].sort()])
})

test('after an outage it goes on with the oldest, and who could not be checked comes in the next period', async () => {
  await using it = await scene(keys(6).map(good), new Set([1]))
  expect(await it.run()).toBe('pace')
  expect(await it.run()).toBe('rest')
  expect(it.batches.flat().sort()).toEqual(keys(6))
})

test.each<[string, string, string]>([
  [
    'a change that no worker takes',
    `UPDATE rollcall.owed SET lane = 1, due_at = now() - interval '2 s' WHERE key = 'k00001'`,
    'live',
  ],
  [
    'a captured change that no worker notes',
    `INSERT INTO rollcall.outbox (key, lane, at) VALUES ('x', 1, now() - interval '2 s')`,
    'live',
  ],
  ['an outage', `UPDATE rollcall.pace SET breaker = 'open'`, 'pace'],
  ['another mapping', `INSERT INTO rollcall.generation (id, fingerprint) VALUES (9, 'theirs')`, 'mapping'],
  [
    'a mapping that is not applied to every customer yet',
    `UPDATE rollcall.generation SET swept_at = NULL;
     INSERT INTO rollcall.capture_mark (kind, relation) VALUES ('overflow', 'public.c')`,
    'unswept',
  ],
  ['another target', `UPDATE rollcall.target SET bound_at = now() + interval '1 s'`, 'mapping'],
  [
    'a gap in capture',
    `INSERT INTO rollcall.capture_mark (kind, relation) VALUES ('overflow', 'public.c')`,
    'gap',
  ],
])('no customer is checked during %s', async (_, sql, why) => {
  await using it = await scene(keys(3).map(good))
  await it.pool.query(sql)
  expect(await it.run()).toBe(why)
  expect(it.batches).toEqual([])
})

test('a backfill holds no customer up, nor does a live change that was due a moment ago', async () => {
  await using it = await scene(keys(3).map(good))
  await it.pool.query(
    `UPDATE rollcall.owed SET due_at = now() - interval '1 hour', lane = 3 WHERE key = 'k00001'`,
  )
  // A moment lasts a second, and the run may begin later on a busy machine.
  await until(async () => {
    await it.pool.query(`UPDATE rollcall.owed SET due_at = now(), lane = 1 WHERE key = 'k00002'`)
    await it.run()
    return it.batches.flat().includes('k00003')
  })
})

test('one process at a time; on an empty ledger no customer is due', async () => {
  await using it = await scene([])
  expect(await alone(it.pool, 'schedule', () => it.run())).toBe('busy')
  expect(await it.run()).toBe('rest')
  expect(it.batches).toEqual([])
})
