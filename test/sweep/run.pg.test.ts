import { expect, test } from 'vitest'
import { closeMarks, dismissMarks, endGap, readGap } from '../../src/capture/marks.ts'
import { applyGeneration } from '../../src/ledger/generation.ts'
import { readSweeps } from '../../src/ledger/runs.ts'
import type { SweepingOptions } from '../../src/sweep/run.ts'
import { openScene } from './scene.ts'

const everyOnce = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${String(i + 1).padStart(3, '0')}`, 1]))

/** A sweep that ends after its first page. */
function onePage(): Pick<SweepingOptions, 'signal' | 'onProgress' | 'page'> {
  const stop = new AbortController()
  return { signal: stop.signal, onProgress: async () => stop.abort(), page: 3 }
}

test('a key that no index can hold does not stop a sweep', async () => {
  await using scene = await openScene(3)
  await scene.pool.query(`INSERT INTO clientes (id, plan) VALUES (repeat('x', 2001), 'premium')`)
  expect(await scene.run()).toMatchObject({ ended: true, tally: { customers: 3 } })
})

test('stopped after every page and gone on with: every customer is noted, and none twice', async () => {
  await using scene = await openScene(10)
  const lookedUp: number[] = []
  for (let turn = 0; ; turn++) {
    const { ended, tally } = await scene.run(onePage())
    lookedUp.push(tally.customers)
    if (ended) break
    const { unfinished } = await readSweeps(scene.pool)
    expect(unfinished).toMatchObject([{ kind: 'backfill', customers: tally.customers, endedAt: null }])
    expect(turn).toBeLessThan(20)
  }
  expect(lookedUp.slice(0, 4)).toEqual([3, 6, 9, 10])
  expect(lookedUp.at(-1)).toBe(10)
  expect(await scene.noted()).toEqual(everyOnce(10))
  expect(await scene.sweeps()).toEqual(['backfill done'])
  expect(await readSweeps(scene.pool)).toMatchObject({ unfinished: [], check: { customers: 10, differ: 10 } })
})

test('killed after a page was noted and before that was stored: the page is swept again, and not noted', async () => {
  await using scene = await openScene(10)
  const { pool } = scene
  await scene.run(onePage())
  await pool.query(
    `CREATE FUNCTION gone() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'gone'; END $$;
     CREATE TRIGGER gone BEFORE UPDATE ON rollcall.run EXECUTE FUNCTION gone()`,
  )
  await expect(scene.run({ page: 3 })).rejects.toThrow('gone')
  expect(Object.keys(await scene.noted())).toHaveLength(6)
  await pool.query('DROP TRIGGER gone ON rollcall.run')
  const { tally } = await scene.run({ page: 3 })
  expect(tally).toMatchObject({ customers: 10, verdicts: { differs: 7, owed: 3 } })
  expect(await scene.noted()).toEqual(everyOnce(10))
})

test('a new customer with a lookup first is recorded with the note, so that no other one takes its user unseen', async () => {
  await using scene = await openScene(5)
  const { pool } = scene
  const restriction = { options: { lookup: true }, select: { lookup: true }, conditions: [] } as const
  await pool.query(
    `CREATE FUNCTION gone() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'gone'; END $$;
     CREATE TRIGGER gone BEFORE INSERT ON rollcall.ledger EXECUTE FUNCTION gone()`,
  )
  await expect(scene.run({ restriction })).rejects.toThrow('gone')
  expect(await scene.noted()).toEqual({})
  await pool.query('DROP TRIGGER gone ON rollcall.ledger')
  expect((await scene.run({ restriction })).tally.plans).toEqual({ lookup: 5 })
  expect(await scene.noted()).toEqual(everyOnce(5))
  const { rows } = await pool.query(
    `SELECT array_agg(DISTINCT unknown) AS unknown, count(user_id)::int AS users
     FROM rollcall.owed JOIN rollcall.ledger USING (key)`,
  )
  expect(rows).toEqual([{ unknown: [true], users: 5 }])
})

test('another kind, other options and a restart begin at the beginning', async () => {
  await using scene = await openScene(10)
  await scene.run(onePage())
  expect((await scene.run(onePage())).tally.customers).toBe(6)
  expect((await scene.run({ ...onePage(), kind: 'resync' })).tally.customers).toBe(3)
  const options = { only: 'create' }
  const restriction = { options, select: { only: 'create' }, conditions: [] } as const
  expect((await scene.run({ ...onePage(), restriction })).tally.customers).toBe(3)
  expect((await scene.run({ ...onePage(), restriction })).tally.customers).toBe(6)
  expect((await scene.run({ ...onePage(), restriction, restart: true })).tally.customers).toBe(3)
  expect(await scene.sweeps()).toEqual([
    'backfill replaced',
    'resync unfinished',
    'backfill replaced',
    'backfill unfinished',
  ])
})

test('where capture has changed meanwhile, what was swept before says nothing', async () => {
  await using scene = await openScene(10)
  await scene.run(onePage())
  await scene.pool.query(
    'ALTER TABLE clientes DISABLE TRIGGER USER; ALTER TABLE clientes ENABLE TRIGGER USER',
  )
  expect((await scene.run(onePage())).tally.customers).toBe(3)
  expect((await scene.run(onePage())).tally.customers).toBe(6)
  await scene.run({ ...onePage(), kind: 'resync' })
  expect((await scene.run({ ...onePage(), kind: 'resync' })).tally.customers).toBe(3)
})

async function settledOtherwise({ pool, options }: Awaited<ReturnType<typeof openScene>>): Promise<void> {
  await pool.query('UPDATE rollcall.owed SET due_at = NULL, token = NULL, synced_version = change_version')
  await pool.query(
    `UPDATE rollcall.ledger SET remote = 'present', sent_status = 2, generation = 1, desired = 'd', digest_key = $1`,
    [options.digester.id],
  )
}

test('a customer that a dismissed TRUNCATE has taken is owed a sync, and is no miss', async () => {
  await using scene = await openScene(5)
  const { pool } = scene
  await scene.run()
  await settledOtherwise(scene)
  await pool.query('TRUNCATE clientes')
  await closeMarks(pool, ['truncate'])
  await dismissMarks(pool)
  expect((await readGap(pool)).ids).toEqual([])
  const options = { only: 'create' }
  const some = await scene.run({ restriction: { options, select: { only: 'create' }, conditions: [] } })
  expect(some).toMatchObject({ ended: true, tally: { verdicts: { 'not-selected': 5 } } })
  const { tally } = await scene.run({ kind: 'check' })
  expect(tally).toMatchObject({ missed: { inserted: 0, changed: 0, deleted: 0 }, plans: { revoke: 5 } })
})

test('one whose place was taken, or whose mapping was replaced, ends at its next page', async () => {
  await using scene = await openScene(10)
  let taken = false
  const take: SweepingOptions['onProgress'] = async () => {
    if (!taken) await scene.run({ ...onePage(), restart: true })
    taken = true
  }
  const first = await scene.run({ page: 3, onProgress: take })
  expect(first).toMatchObject({ ended: false, superseded: true, tally: { customers: 6 } })
  expect(await scene.sweeps()).toEqual(['backfill replaced', 'backfill unfinished'])

  const onProgress: SweepingOptions['onProgress'] = async () =>
    void (await applyGeneration(scene.pool, 'another'))
  expect(await scene.run({ page: 3, onProgress })).toMatchObject({ ended: false, superseded: true })
  expect(await scene.sweeps()).toEqual(['backfill replaced', 'backfill replaced'])
  await scene.pool.query('UPDATE rollcall.ledger SET generation = 1')
  await expect(scene.run()).rejects.toMatchObject({ code: 'MAPPING_CHANGED' })
})

test('a gap ends with the marks that it was begun for, and with no other', async () => {
  await using scene = await openScene(5)
  const { pool } = scene
  const mark = async () => {
    const { rows } = await pool.query<{ id: string }>(
      `INSERT INTO rollcall.capture_mark (kind, relation, resolved_at, resync_after)
       VALUES ('overflow', 'public.clientes', now(), '3') RETURNING id::text`,
    )
    return rows[0]?.id ?? ''
  }
  const first = await mark()
  let second = ''
  const onProgress = async () => {
    second ||= await mark()
  }
  await scene.run({ kind: 'gap', marks: [first], onProgress })
  expect(await readGap(pool)).toEqual({ ids: [second], ready: true })
  // And a sweep for others does not go on with one that has begun for some.
  await scene.run({ ...onePage(), kind: 'gap', marks: [second] })
  expect((await scene.run({ ...onePage(), kind: 'gap', marks: [first, second] })).tally.customers).toBe(3)
  await endGap(pool, { ids: [second] })
})

test('before a sweep of all customers a check leaves new customers alone', async () => {
  await using scene = await openScene(5)
  const { tally } = await scene.run({ kind: 'check' })
  expect(tally).toMatchObject({
    customers: 5,
    verdicts: { 'never-asked': 5, differs: 0 },
    missed: { inserted: 0 },
  })
  expect(await scene.noted()).toEqual({})
  // From then on it counts those that capture missed, and brings them in.
  await scene.run()
  const insert = `INSERT INTO clientes (id, plan) VALUES ('new', 'premium')`
  await scene.pool.query('ALTER TABLE clientes DISABLE TRIGGER ALL')
  await scene.pool.query(insert)
  await scene.pool.query('ALTER TABLE clientes ENABLE TRIGGER ALL')
  const late = await scene.run({ kind: 'check' })
  expect(late.tally).toMatchObject({ verdicts: { owed: 5, differs: 1 }, missed: { inserted: 1, changed: 0 } })
  expect(late.examples).toEqual(['new'])
  expect(Object.keys(await scene.noted())).toContain('new')
})

test('a check that stands half way is dropped once all customers were swept', async () => {
  await using scene = await openScene(5)
  await scene.run({ ...onePage(), kind: 'check' })
  await scene.run({ kind: 'resync' })
  expect(await scene.sweeps()).toEqual(['check replaced', 'resync done'])
  const restriction = { options: { lookup: true }, select: { lookup: true }, conditions: [] } as const
  await scene.run({ ...onePage(), kind: 'check' })
  await scene.run({ restriction })
  expect((await scene.sweeps()).slice(2)).toEqual(['check replaced', 'backfill done'])
})
