// Whom a tick hands over to be verified, with real tables; what a look says is given here.
import { expect, test } from 'vitest'
import { countOpen } from '../../src/drift/list.ts'
import { beginRound, readDoubt, readRound } from '../../src/drift/rounds.ts'
import { tallyOf } from '../../src/drift/tally.ts'
import { type Looking, makeTick } from '../../src/drift/tick.ts'
import type { Verification } from '../../src/drift/verify.ts'
import type { Verdict, Verified } from '../../src/drift/words.ts'
import { alone } from '../../src/ledger/alone.ts'
import { bindGeneration, markSwept } from '../../src/ledger/generation.ts'
import { bindTarget } from '../../src/ledger/target.ts'
import type { CustomerKey } from '../../src/model/customer.ts'
import { configureCeiling } from '../../src/pace/row.ts'
import { keys, put, type Row } from '../brake/scene.ts'
import { freshDatabase } from '../support/database.ts'

const TARGET = { origin: 'https://service.test', apiKey: 'k', digestKey: 'a-digest-key-of-thirty-two-chars!' }

type Given = {
  readonly due?: () => readonly CustomerKey[]
  readonly skips?: ReadonlySet<CustomerKey>
  readonly missing?: ReadonlySet<CustomerKey>
  /** At which batches the pace stops it. */
  readonly stops?: Set<number>
}

/** Within the period of a millisecond everybody is due by the next beat; room is what each beat has. */
async function scene(
  rows: readonly Row[],
  { due = () => [], skips = new Set(), missing = new Set(), stops = new Set() }: Given = {},
) {
  const db = await freshDatabase()
  const { pool } = db
  await configureCeiling(pool, 4000)
  const binding = await bindTarget(pool, TARGET)
  const { generation } = await bindGeneration(pool, 'ours')
  await markSwept(pool, generation)
  await put(pool, rows)
  const batches: (readonly CustomerKey[])[] = []
  const rounds: number[] = []
  let now = 0
  const verify = async (asked: readonly CustomerKey[], { round }: Looking): Promise<Verification> => {
    batches.push(asked)
    if (stops.delete(batches.length)) return { verified: [], stopped: 'pace' }
    const looked = asked.filter((key) => !skips.has(key))
    await pool.query('UPDATE rollcall.ledger SET looked_at = clock_timestamp() WHERE key = ANY($1)', [looked])
    const found = looked.filter((key) => missing.has(key))
    await pool.query(
      `INSERT INTO rollcall.finding (key, kind, fields, cause, looks, run_id)
       SELECT k, 'missing', '{}', 'edited-at-service', 2, $2 FROM unnest($1::text[]) k`,
      [found, round?.id],
    )
    const verdictOn = (key: CustomerKey) => (skips.has(key) ? OWED : missing.has(key) ? MISSING : AGREES)
    return { verified: asked.map((key) => verified(key, verdictOn(key))), stopped: null }
  }
  const tick = makeTick({
    ...{ pool, binding, fingerprint: 'ours', credentials: 'c', verify },
    ...{ periodMs: 1, lastsMs: 2000, most: 4 },
    dueLooks: async (limit) => due().slice(0, limit),
    onRound: ({ tally }) => void rounds.push(tally.checked),
    sleep: async (ms) => {
      now += ms
      await pool.query('SELECT pg_sleep(0.002)') // longer than the period: by the clock of Postgres all are due
    },
    now: () => now,
    signal: new AbortController().signal,
  })
  return { pool, tick, batches, rounds, [Symbol.asyncDispose]: () => db.drop() }
}

const AGREES: Verdict = { kind: 'agrees' }
const OWED: Verdict = { kind: 'skipped', why: 'owed' }
const MISSING: Verdict = { kind: 'missing', fields: [], cause: 'edited-at-service', access: 'lost' }

function verified(key: CustomerKey, verdict: Verdict): Verified {
  return {
    ...{ key, userId: `u-${key}`, verdict, standing: null, findingId: null, resolved: null },
    ...{ lookAgainInMs: null, more: false, repairing: false, shown: [] },
  }
}

const good = (key: string): Row => ({ key, sent: 2 })

test('everybody is taken in the order of the keys, a few at once, and the round ends and is counted', async () => {
  await using it = await scene([
    ...keys(6).map(good),
    { key: 'a-rejected', sent: 2, state: 'rejected' },
    { key: 'b-never-asked', remote: 'unasked' },
  ])
  expect(await it.tick()).toBe('rest')
  expect(it.batches).toEqual([keys(6).slice(0, 4), keys(6).slice(4)])
  expect(it.rounds).toEqual([6])
  const { rows } = await it.pool.query(`SELECT outcome FROM rollcall.drift_run`)
  expect(rows).toEqual([{ outcome: 'complete' }])
})

test('in a further pass only those come again who could not be verified', async () => {
  await using it = await scene(keys(3).map(good), { skips: new Set(['k00002']) })
  await it.pool.query(`INSERT INTO rollcall.drift_run (kind, population) VALUES ('round', 3)`)
  await it.tick()
  expect(it.batches.splice(0).flat()).toEqual(keys(3))
  await it.pool.query(
    `UPDATE rollcall.drift_run SET ended_at = NULL, cursor = cursor || '{"pass": 3, "after": null}'`,
  )
  await it.tick()
  expect(it.batches).toEqual([['k00002']])
  expect(await readRound(it.pool)).toMatchObject({ ended: true, tally: { checked: 2, skipped: { owed: 1 } } })
})

test('the round is the one that was begun last, also once their numbers are longer', async () => {
  await using it = await scene([])
  await it.pool.query(`SELECT setval(pg_get_serial_sequence('rollcall.drift_run', 'id'), 9, false)`)
  const read: unknown[] = []
  for (const _ of ['9', '10', '11']) {
    await beginRound(it.pool)
    read.push((await readRound(it.pool))?.id)
  }
  expect(read).toEqual(['9', '10', '11'])
})

test('whoever is looked at once more before the round has come to it counts at its turn, and once', async () => {
  const again = [['k00003']]
  await using it = await scene(keys(3).map(good), { due: () => again.shift() ?? [] })
  await beginRound(it.pool)
  await it.pool.query(
    `INSERT INTO rollcall.finding (key, kind, fields, looks, run_id)
     SELECT 'k00003', 'missing', '{}', 1, id FROM rollcall.drift_run`,
  )
  await it.tick()
  expect(it.batches).toEqual([['k00003'], keys(3)])
  expect(it.rounds).toEqual([3])
})

test('whose suspicion a run has cleared up is taken once more, and counts', async () => {
  await using it = await scene(keys(3).map(good))
  await it.pool.query(
    `INSERT INTO rollcall.drift_run (id, kind, population, cursor, tally)
     VALUES (0, 'round', 3, '{"pass": 2, "taken": 3}', '{"checked": 2, "agrees": 2}')`,
  )
  await it.pool.query(
    `UPDATE rollcall.ledger SET looked_at = clock_timestamp(), taken_in = 0, counted_in = CASE WHEN key <> 'k00002' THEN 0 END`,
  )
  await it.tick()
  expect(it.batches).toEqual([['k00002']])
  expect(it.rounds).toEqual([3])
})

test('of a round that was doubted those who counted as drift are taken once more, whatever became of the findings', async () => {
  await using it = await scene(keys(3).map(good))
  await it.pool.query(
    `INSERT INTO rollcall.drift_run (id, kind, population, cursor, tally)
     VALUES (0, 'round', 3, '{"pass": 2, "taken": 3, "doubted": true}', $1)`,
    [JSON.stringify(tallyOf([AGREES, MISSING, AGREES]))],
  )
  await it.pool.query(
    `UPDATE rollcall.ledger SET taken_in = 0, counted_in = 0, counted_as = CASE WHEN key = 'k00002' THEN $1::jsonb END`,
    [JSON.stringify(MISSING)],
  )
  await it.tick()
  expect(it.batches).toEqual([['k00002']])
  const { rows } = await it.pool.query('SELECT tally, outcome FROM rollcall.drift_run WHERE id = 0')
  expect(rows).toEqual([{ tally: tallyOf([AGREES, AGREES, AGREES]), outcome: 'complete' }])
})

test('whom a run has looked at meanwhile has a turn all the same, and counts', async () => {
  await using it = await scene(keys(3).map(good))
  await it.pool.query(`INSERT INTO rollcall.drift_run (kind, population) VALUES ('round', 3)`)
  await it.pool.query('UPDATE rollcall.ledger SET looked_at = clock_timestamp()')
  await it.tick()
  expect(it.batches.flat()).toEqual(keys(3))
  expect(it.rounds).toEqual([3])
})

test('the next round begins with everybody again', async () => {
  await using it = await scene(keys(3).map(good))
  await it.tick()
  await it.tick()
  expect(it.batches.flat()).toEqual([...keys(3), ...keys(3)])
  expect(it.rounds).toEqual([3, 3])
})

test('who was not looked at because calls were stopped comes first the next time', async () => {
  await using it = await scene(keys(3).map(good), { stops: new Set([1]) })
  expect(await it.tick()).toBe('stopped')
  expect(await it.tick()).toBe('rest')
  expect(it.batches[1]).toEqual(it.batches[0])
  expect(it.batches.slice(1).flat()).toEqual(keys(3))
})

test('a round in which nobody is there any more ends as one that cannot be believed', async () => {
  const missing = new Set(keys(6))
  await using it = await scene(keys(6).map(good), { missing })
  await it.tick()
  const { rows } = await it.pool.query(`SELECT outcome, tally->'kinds' AS kinds FROM rollcall.drift_run`)
  expect(rows).toEqual([{ outcome: 'not-credible', kinds: { missing: 6 } }])
  expect(await readDoubt(it.pool)).toBe('nobody-there')
  expect(await countOpen(it.pool)).toEqual([])
  const { rowCount } = await it.pool.query('SELECT FROM rollcall.finding WHERE next_look_at > now()')
  expect(rowCount).toBe(6)
  await it.pool.query(`UPDATE rollcall.finding SET resolved_at = now(), resolved_how = 'by-itself'`)
  expect(await readDoubt(it.pool)).toBeNull()
})

test('while a round goes on what it has found is told for as long as it can be believed', async () => {
  const missing = new Set(['k00005', ...keys(12).slice(6)])
  const stops = new Set([3])
  await using it = await scene(keys(16).map(good), { missing, stops })
  // Two batches: of eight three are missing.
  await it.tick()
  expect(await countOpen(it.pool)).toEqual([{ kind: 'missing', access: null, count: 3 }])
  stops.add(5)
  await it.tick()
  expect(await readRound(it.pool)).toMatchObject({
    ended: false,
    tally: { checked: 12, kinds: { missing: 7 } },
  })
  expect(await readDoubt(it.pool)).toBe('nobody-there')
  expect(await countOpen(it.pool)).toEqual([])
})

test('second looks go before the round', async () => {
  const left = ['k00003']
  await using it = await scene(keys(3).map(good), { due: () => left.splice(0) })
  await it.tick()
  expect(it.batches[0]).toEqual(['k00003'])
})

test('a suspicion that nothing can be said of for now is looked at often, and counts once, when it ends', async () => {
  const skips = new Set(['k00002'])
  let open = true
  const due = () => (open ? ['k00002'] : [])
  await using it = await scene(keys(3).map(good), { due, skips })
  await it.pool.query(`INSERT INTO rollcall.drift_run (id, kind, population) VALUES (0, 'round', 3)`)
  await it.pool.query(
    `INSERT INTO rollcall.finding (key, kind, fields, cause, looks, run_id)
     VALUES ('k00002', 'differs', '{email}', 'edited-at-service', 1, 0)`,
  )
  await it.pool.query(`UPDATE rollcall.ledger SET taken_in = 0 WHERE key = 'k00002'`)
  await it.tick()
  expect(it.batches.filter(([key]) => key === 'k00002').length).toBeGreaterThanOrEqual(6)
  const passedOver = `SELECT FROM rollcall.drift_run WHERE id = 0 AND tally->'skipped' <> '{}'`
  expect((await it.pool.query(passedOver)).rowCount).toBe(0)
  open = false
  skips.clear()
  // The first one ends the round that was under way.
  await it.tick()
  await it.tick()
  expect((await readRound(it.pool))?.tally).toEqual(tallyOf([AGREES, AGREES, AGREES]))
})

test.each<[string, string, string]>([
  [
    'a change that nobody takes',
    `UPDATE rollcall.owed SET lane = 1, due_at = now() - interval '2 s' WHERE key = 'k00001'`,
    'live',
  ],
  [
    'a captured change that nobody notes',
    `INSERT INTO rollcall.outbox (key, lane, at) VALUES ('x', 1, now() - interval '2 s')`,
    'live',
  ],
  ['an outage', `UPDATE rollcall.pace SET breaker = 'open', cause = 'outage'`, 'stopped'],
  [
    'a service that asked for patience',
    `UPDATE rollcall.pace SET not_before = now() + interval '1 minute'`,
    'stopped',
  ],
  [
    'another mapping',
    `INSERT INTO rollcall.generation (id, fingerprint, swept_at) VALUES (9, 'theirs', now())`,
    'mapping',
  ],
  [
    'a mapping that is not applied to everybody yet',
    `UPDATE rollcall.generation SET swept_at = NULL`,
    'mapping',
  ],
  ['another target', `UPDATE rollcall.target SET bound_at = now() + interval '1 s'`, 'mapping'],
  [
    'a gap in capture',
    `INSERT INTO rollcall.capture_mark (kind, relation) VALUES ('overflow', 'public.c')`,
    'gap',
  ],
])('nobody is looked at during %s', async (_, sql, why) => {
  await using it = await scene(keys(3).map(good))
  await it.pool.query(sql)
  expect(await it.tick()).toBe(why)
  expect(it.batches).toEqual([])
})

test('a backfill holds nobody up, nor does a live change that was due a moment ago', async () => {
  await using it = await scene(keys(3).map(good))
  await it.pool.query(
    `UPDATE rollcall.owed SET due_at = now() - interval '1 hour', lane = 3 WHERE key = 'k00001'`,
  )
  await it.pool.query(`UPDATE rollcall.owed SET due_at = now(), lane = 1 WHERE key = 'k00002'`)
  await it.tick()
  expect(it.batches.flat()).toContain('k00003')
})

test('one process at a time; on an empty ledger there is a round with nobody', async () => {
  await using it = await scene([])
  expect(await alone(it.pool, 'round', () => it.tick())).toBe('busy')
  expect(await it.tick()).toBe('rest')
  expect(it.batches).toEqual([])
  expect(await readRound(it.pool)).toMatchObject({ population: 0, taken: 0 })
})
