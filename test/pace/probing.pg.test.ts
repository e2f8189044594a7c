import { describe, expect, it } from 'vitest'
import { readPace } from '../../src/pace/read.ts'
import { endHold } from '../../src/pace/row.ts'
import { holdCalls } from '../support/pace-row.ts'
import { until } from '../support/until.ts'
import { makeTwo, outage, probeIsDue } from './two.ts'

const never = new AbortController().signal

describe('probes', () => {
  it('are made by no process while calls are made, or before one is due', async () => {
    const { a, b } = await makeTwo(160)
    expect(await a.probe()).toBe('idle')
    await a.repeat('trouble', 10)
    a.answerWith(async () => 'trouble')
    expect(await a.probe()).toBe('probed')
    expect([await a.probe(), await b.probe()]).toEqual(['idle', 'idle'])
    expect(a.probes() + b.probes()).toBe(1)
  })

  it('are made one at a time, however many ask', async () => {
    const { db, a, b } = await makeTwo(160)
    await a.repeat('trouble', 10)
    await probeIsDue(db)
    let answer = (_: 'trouble') => {}
    const answered = new Promise<'trouble'>((resolve) => (answer = resolve))
    for (const side of [a, b]) side.answerWith(() => answered)
    await holdCalls(db.pool, 60_000)
    expect(await a.probe()).toBe('idle')
    await endHold(db.pool)
    const asking = [...Array(10)].flatMap(() => [a.probe(), b.probe()])
    let idle = 0
    for (const each of asking) void each.then((what) => (idle += what === 'idle' ? 1 : 0))
    await until(() => idle === asking.length - 1)
    answer('trouble')
    expect((await Promise.all(asking)).filter((what) => what === 'probed')).toHaveLength(1)
    expect(a.probes() + b.probes()).toBe(1)
    const pace = await readPace(db.pool)
    expect(pace).toMatchObject({ breaker: 'open', failedProbes: 1 })
    expect(pace?.nextProbeMs).toBeGreaterThan(3000)
    expect(pace?.nextProbeMs).toBeLessThanOrEqual(5500)
  })

  it('of a process that died with one do not stop the next', async () => {
    const two = await makeTwo(160)
    const { a, b } = two
    await outage(two)
    a.answerWith(() => new Promise(() => undefined))
    void a.probeWithin(3000)
    await expect.poll(() => a.probes()).toBe(2)
    expect(await b.probe()).toBe('idle')
    await expect.poll(() => b.probe()).toBe('probed')
    expect(await readPace(two.db.pool)).toMatchObject({
      breaker: 'trying',
      cause: null,
      rate: 10,
      epoch: '1',
    })
  })

  it('that are broken off end nothing, and the next is made at once', async () => {
    const { db, a, b } = await makeTwo(160)
    await a.repeat('trouble', 10)
    await probeIsDue(db)
    a.answerWith(async () => null)
    expect(await a.probe()).toBe('idle')
    expect(await readPace(db.pool)).toMatchObject({ breaker: 'open', cause: 'outage', failedProbes: 0 })
    expect(await b.probe()).toBe('probed')
  })

  it('that are answered after their lease change nothing', async () => {
    const { db, a, b } = await makeTwo(160)
    await a.repeat('trouble', 10)
    await probeIsDue(db)
    let late: () => void = () => undefined
    a.answerWith(() => new Promise((resolve) => (late = () => resolve('well'))))
    const first = a.probeWithin(1)
    await expect.poll(() => a.probes()).toBe(1)
    b.answerWith(async () => 'trouble')
    await expect.poll(() => b.probe()).toBe('probed')
    await probeIsDue(db)
    late()
    expect(await first).toBe('probed')
    expect(await readPace(db.pool)).toMatchObject({ breaker: 'open', cause: 'outage', failedProbes: 1 })
    expect(a.kinds()).toEqual(['probed'])
    expect(b.kinds()).toEqual(['probed', 'opened'])
  })

  it('that fail in our own hands leave the next one to any process', async () => {
    const { db, a, b } = await makeTwo(160)
    await a.repeat('trouble', 10)
    await probeIsDue(db)
    a.answerWith(async () => {
      throw new Error('no memory')
    })
    await expect(a.probe()).rejects.toThrow('no memory')
    expect(await b.probe()).toBe('probed')
  })
})

it('after an outage calls are made slowly, and ten good ones close the breaker for both', async () => {
  const two = await makeTwo(160)
  const { a, b } = two
  await outage(two)
  await b.probe()
  expect(b.events).toEqual([
    { kind: 'probed', health: 'well' },
    { kind: 'trying', rate: 10, stoppedForMs: expect.any(Number) },
  ])
  const permits = await Promise.all(
    [a, b].map((side) => expect.poll(() => side.permits.take(never)).not.toBe(null)),
  )
  expect(permits).toHaveLength(2)
  await Promise.all([a.repeat('well', 5, { epoch: '1' }), b.repeat('well', 4, { epoch: '1' })])
  expect(await readPace(two.db.pool)).toMatchObject({ breaker: 'trying' })
  await a.report('well', { epoch: '1' })
  expect(await readPace(two.db.pool)).toMatchObject({ breaker: 'closed', openedAt: null })
  expect([...a.kinds(), ...b.kinds()].filter((kind) => kind === 'closed')).toHaveLength(1)
})

describe('wrong keys', () => {
  it('stop their own process after three denied calls and a probe, until a probe is taken', async () => {
    const { db, a: wrong, b: right } = await makeTwo(160)
    wrong.answerWith(async () => 'denied')
    await Promise.all([wrong.repeat('denied', 3), right.repeat('well', 5)])
    expect(await wrong.permits.take(never)).toBe(null)
    expect(await wrong.probe()).toBe('probed')
    expect(await right.probe()).toBe('idle')
    expect([await wrong.rate(), await right.rate()]).toEqual([0, 160])
    expect(await wrong.permits.take(never)).toBe(null)
    expect(await right.permits.take(never)).not.toBe(null)
    wrong.answerWith(async () => 'well')
    wrong.later(5000)
    expect(await wrong.probe()).toBe('probed')
    expect(wrong.kinds()).toEqual(['asking', 'probed', 'refused', 'probed', 'taken'])
    expect(await wrong.permits.take(never)).not.toBe(null)
    expect(await readPace(db.pool)).toMatchObject({ breaker: 'closed', rate: 160, epoch: '0' })
  })

  it('are found by the probe of an outage too', async () => {
    const two = await makeTwo(160)
    const { a: wrong } = two
    await outage(two)
    wrong.answerWith(async () => 'denied')
    await wrong.probe()
    expect(await wrong.rate()).toBe(0)
    expect(await readPace(two.db.pool)).toMatchObject({ breaker: 'open', cause: 'outage' })
  })
})

/** `by` a process, for one customer after the other. */
const logged = (by: string, plan: string, ...statuses: readonly (number | null)[]) => `
  INSERT INTO rollcall.call (by, key, plan, status, at, method, meaning, ms, fields, answer)
  SELECT '${by}', 'k' || n, '${plan}', status, now(), 'GET', 'x', 1, '{}', 'x'
  FROM unnest(ARRAY[${statuses.map(String)}]::smallint[]) WITH ORDINALITY AS s (status, n) ORDER BY n;`

const GONE = `UPDATE rollcall.call SET at = at - interval '1 hour';`

it.each([
  ['a worker that is gone was denied', logged('worker a', 'probe', 401) + GONE, null],
  ['a probe was denied', logged('worker a', 'probe', 401), 'credentials'],
  [
    'and then there was no answer, or trouble',
    logged('worker a', 'probe', 401, null, 500, 429),
    'credentials',
  ],
  ['three customers were, one by one', logged('worker a', 'patch', 403, 403, 403), null],
  ['a call was taken since', logged('worker a', 'probe', 401) + logged('worker b', 'patch', 422), null],
  ['it was a person by hand', logged('sync b', 'probe', 401), null],
])('the report of the pace, when %s: %3$s', async (_, calls, cause) => {
  const { db } = await makeTwo(160)
  await db.sql(calls)
  expect(await readPace(db.pool)).toMatchObject({ cause, openedAt: cause && expect.any(String) })
})

it.each([
  ['was denied', logged('worker a', 'probe', 503, 401), 'credentials'],
  ['had trouble', logged('worker a', 'probe', 401, 503), 'outage'],
  ['of one had', logged('worker a', 'probe', 503) + logged('worker b', 'probe', 401), 'outage'],
  [
    'of one gone had',
    logged('worker a', 'probe', 503) + GONE + logged('worker b', 'probe', 401),
    'credentials',
  ],
] as const)('the report of the pace in an outage, when the last probe %s: %3$s', async (_, calls, cause) => {
  const two = await makeTwo(160)
  await outage(two)
  await two.db.pool.query(calls)
  expect(await readPace(two.db.pool)).toMatchObject({ breaker: 'open', cause })
})
