import type { Pool, PoolClient } from 'pg'
import { describe, expect, it, test } from 'vitest'
import { readPace } from '../../src/pace/read.ts'
import { changePace } from '../../src/pace/stored.ts'
import { makeTwo, probeIsDue } from './two.ts'

const never = new AbortController().signal

describe('busy answers', () => {
  it('of one epoch that two processes get at once halve the rate once', async () => {
    const { db, a, b } = await makeTwo(100)
    await Promise.all([a.repeat('neutral', 25, { busy: true }), b.repeat('neutral', 25, { busy: true })])
    expect(await readPace(db.pool)).toMatchObject({ rate: 50, epoch: '1' })
    expect([...a.kinds(), ...b.kinds()]).toEqual(['lowered'])
    await Promise.all([
      a.report('neutral', { busy: true }),
      b.report('neutral', { id: '77', busy: true, epoch: '1' }),
    ])
    expect(await readPace(db.pool)).toMatchObject({ rate: 25, epoch: '2' })
  })

  it('take the permits away that were reserved before, and Retry-After binds the other process', async () => {
    const { a, b } = await makeTwo(1000)
    const permit = await a.permits.take(never)
    if (!permit) throw new Error('no process may call')
    a.permits.giveBack(permit)
    // The hold begins after this. A permit may come early by the time that its statement took.
    const until = performance.now() + 1000
    await a.report('neutral', { busy: true, holdMs: 1500, epoch: permit.epoch })
    const later = await Promise.all([a.permits.take(never), b.permits.take(never)])
    expect(performance.now()).toBeGreaterThanOrEqual(until)
    expect(later).toEqual([expect.objectContaining({ epoch: '1' }), expect.objectContaining({ epoch: '1' })])
  })
})

describe('good calls', () => {
  it('of a service that works cost no statement', async () => {
    const two = await makeTwo(100)
    const { a } = two
    await a.permits.take(never)
    const before = await version(two)
    await a.repeat('well', 50)
    expect(await version(two)).toBe(before)
  })

  it('of one process end the failures in a row of the other, as soon as it knows of them', async () => {
    const { db, a, b } = await makeTwo(100)
    await b.repeat('trouble', 9)
    await a.permits.take(never)
    await a.report('well')
    await b.repeat('trouble', 9)
    expect(await readPace(db.pool)).toMatchObject({ breaker: 'closed', cause: null })
    await b.report('trouble', { id: '10' })
    expect(await readPace(db.pool)).toMatchObject({ breaker: 'open', cause: 'outage' })
  })
})

test('calls of one moment, half of which fail, are no failures in a row', async () => {
  const { db, a } = await makeTwo(100)
  const mixed = Array.from({ length: 40 }, (_, at) =>
    a.report(at % 2 === 0 ? 'trouble' : 'well', { id: String(at) }),
  )
  await Promise.all(mixed)
  expect(await readPace(db.pool)).toMatchObject({ breaker: 'closed', cause: null })
})

describe('failures', () => {
  it('of two processes open the breaker for both, and those who wait are sent away', async () => {
    const { db, a, b } = await makeTwo(0.5)
    await a.permits.take(never)
    const waiting = [a.permits.take(never), b.permits.take(never), b.permits.take(never)]
    await Promise.all([
      a.repeat('trouble', 8),
      b.report('trouble', { id: '9' }),
      b.report('trouble', { id: '10' }),
      b.repeat('trouble', 3),
    ])
    expect(await Promise.all(waiting)).toEqual([null, null, null])
    expect(await readPace(db.pool)).toMatchObject({
      ...{ breaker: 'open', cause: 'outage', failedProbes: 0, nextProbeMs: 0 },
    })
  })

  it('of one customer do not, however many', async () => {
    const { db, a, b } = await makeTwo(100)
    for (let n = 0; n < 30; n++) await Promise.all([a.report('trouble'), b.report('trouble')])
    expect(await readPace(db.pool)).toMatchObject({ breaker: 'closed', cause: null })
  })
})

describe('beside reservations of two processes', () => {
  it('nothing blocks, and nothing is lost', async () => {
    const { db, a, b } = await makeTwo(2000)
    const busy = async (side: typeof a) => {
      for (let n = 0; n < 40; n++) {
        await side.permits.take(never)
        await side.report('trouble', { id: '1' })
      }
    }
    await Promise.all([busy(a), busy(a), busy(b), busy(b)])
    const { rows } = await db.sql(`SELECT trouble->'troubles'->'1' AS n FROM rollcall.pace`)
    expect(rows[0].n).toBe(160)
  })

  it('a process that is suspended with the row in its hands holds no process up for long', async () => {
    const { db, a, b } = await makeTwo(100)
    let suspended = false
    let inHand: PoolClient | null = null
    const connect = a.pool.connect.bind(a.pool) as () => Promise<PoolClient>
    const pool: Pool = Object.assign(Object.create(a.pool), {
      async connect() {
        const client = await connect()
        inHand = client
        client.on('error', () => undefined)
        const query = client.query.bind(client) as (...args: unknown[]) => Promise<unknown>
        return Object.assign(Object.create(client), {
          query: (...args: unknown[]) => {
            suspended ||= args[0] === 'COMMIT'
            return suspended ? new Promise(() => undefined) : query(...args)
          },
        })
      },
    })
    void changePace(pool, ({ pace }) => ({ pace: { ...pace, rate: 7 } }))
    await expect.poll(() => suspended).toBe(true)
    await b.report('trouble')
    expect(await b.permits.take(never)).not.toBe(null)
    expect(await readPace(db.pool)).toMatchObject({ rate: 100 })
    ;(inHand as PoolClient | null)?.release(true)
  })
})

it('when the outage ends, who failed by it is due at once with its attempts back, and no other is', async () => {
  const { db, a } = await makeTwo(100)
  await db.sql(`
    INSERT INTO rollcall.owed (id, key, change_version, lane, due_at, not_before, attempts, token)
    SELECT n, 'k' || n, 1, 1, now() + interval '1 hour', NULL, 4, NULL FROM generate_series(1, 14) n;
    UPDATE rollcall.owed SET not_before = now() + interval '1 minute' WHERE id = 2;
    UPDATE rollcall.owed SET token = 9 WHERE id = 3;
    UPDATE rollcall.owed SET due_at = NULL, attempts = 0 WHERE id = 4;
    UPDATE rollcall.owed SET due_at = now() - interval '1 hour' WHERE id = 5;
    UPDATE rollcall.owed SET attempts = 0 WHERE id = 6`)
  await a.repeat('trouble', 10)
  // Under way when it opened.
  await a.repeat('trouble', 2, { id: '11' })
  for (const health of ['trouble', 'well'] as const) {
    a.answerWith(async () => health)
    await probeIsDue(db)
    expect(await a.probe()).toBe('probed')
  }
  const { rows } = await db.sql(`
    SELECT id::int, attempts, CASE WHEN due_at <= now() - interval '59 min' THEN 'earlier'
      WHEN due_at <= now() THEN 'now' WHEN due_at <= now() + interval '2 min' THEN 'soon'
      WHEN due_at IS NULL THEN 'settled' ELSE 'later' END AS due FROM rollcall.owed ORDER BY id`)
  const reported = Object.fromEntries(rows.map(({ id, attempts, due }) => [id, [attempts, due]]))
  expect(reported).toEqual({
    1: [3, 'now'],
    2: [3, 'soon'],
    3: [4, 'later'],
    4: [0, 'settled'],
    5: [3, 'earlier'],
    6: [0, 'now'],
    7: [3, 'now'],
    8: [3, 'now'],
    9: [3, 'now'],
    10: [3, 'now'],
    11: [2, 'now'],
    12: [4, 'later'],
    13: [4, 'later'],
    14: [4, 'later'],
  })
})

/** Changes with every write, and with every lock. */
async function version({ db }: Awaited<ReturnType<typeof makeTwo>>): Promise<string | null> {
  const { rows } = await db.sql(`SELECT xmin || ' ' || xmax AS version FROM rollcall.pace`)
  return rows[0]?.version ?? null
}
