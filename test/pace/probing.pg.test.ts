import { describe, expect, it } from 'vitest'
import { readPace } from '../../src/pace/read.ts'
import { until } from '../support/until.ts'
import { makeTwo, probeIsDue } from './two.ts'

const never = new AbortController().signal

describe('probes', () => {
  it('are made one at a time, however many ask', async () => {
    await using two = await makeTwo(160)
    const [a, b] = two.sides
    await a.hearMany('trouble', 10)
    await probeIsDue(two.db)
    let answer = (_: 'trouble') => {}
    const answered = new Promise<'trouble'>((resolve) => (answer = resolve))
    for (const side of two.sides) side.answerWith(() => answered)
    const asking = [...Array(10)].flatMap(() => [a.tend(), b.tend()])
    // All but the one who waits for its answer have been told that somebody is at it.
    let idle = 0
    for (const each of asking) void each.then((what) => (idle += what === 'idle' ? 1 : 0))
    await until(() => idle === asking.length - 1)
    answer('trouble')
    expect((await Promise.all(asking)).filter((what) => what === 'probed')).toHaveLength(1)
    expect(a.probes() + b.probes()).toBe(1)
    const pace = await readPace(two.db.pool)
    expect(pace).toMatchObject({ breaker: 'open', failedProbes: 1 })
    expect(pace?.nextProbeMs).toBeGreaterThan(8000)
    expect(pace?.nextProbeMs).toBeLessThanOrEqual(11_000)
  })

  it('of a process that died with one do not stop the next', async () => {
    await using two = await makeTwo(160)
    const [a, b] = two.sides
    await a.hearMany('trouble', 10)
    await probeIsDue(two.db)
    a.answerWith(() => new Promise(() => undefined))
    void a.tendWithin(3000)()
    await expect.poll(() => a.probes()).toBe(1)
    expect(await b.tend()).toBe('idle')
    await expect.poll(() => b.tend()).toBe('probed')
    expect(await readPace(two.db.pool)).toMatchObject({
      breaker: 'trying',
      cause: null,
      rate: 10,
      epoch: '1',
    })
  })

  it('that are broken off end nothing, and the next is made at once', async () => {
    await using two = await makeTwo(160)
    const [a, b] = two.sides
    await a.hearMany('trouble', 10)
    await probeIsDue(two.db)
    a.answerWith(async () => null)
    expect(await a.tend()).toBe('idle')
    expect(await readPace(two.db.pool)).toMatchObject({ breaker: 'open', cause: 'outage', failedProbes: 0 })
    expect(await b.tend()).toBe('probed')
  })

  it('that are answered after their lease change nothing', async () => {
    await using two = await makeTwo(160)
    const [a, b] = two.sides
    await a.hearMany('trouble', 10)
    await probeIsDue(two.db)
    let late: () => void = () => undefined
    a.answerWith(() => new Promise((resolve) => (late = () => resolve('well'))))
    const first = a.tendWithin(1)()
    await expect.poll(() => a.probes()).toBe(1)
    b.answerWith(async () => 'trouble')
    await expect.poll(() => b.tend()).toBe('probed')
    // The next one is due; the answer is still to another question.
    await probeIsDue(two.db)
    late()
    expect(await first).toBe('probed')
    expect(await readPace(two.db.pool)).toMatchObject({ breaker: 'open', cause: 'outage', failedProbes: 1 })
    expect(a.kinds()).toEqual(['opened'])
    expect(b.kinds()).toEqual(['probed'])
  })
})

describe('wrong keys', () => {
  it('are stopped by three denied calls and a probe, and go on when they are right', async () => {
    await using two = await makeTwo(160, ['wrong', 'right'])
    const [wrong, right] = two.sides
    await wrong.hearMany('denied', 3)
    expect(await right.tend()).toBe('idle')
    wrong.answerWith(async () => 'denied')
    expect(await wrong.tend()).toBe('probed')
    expect(await readPace(two.db.pool)).toMatchObject({
      breaker: 'open',
      cause: 'credentials',
      failedProbes: 1,
    })
    expect(await wrong.permits.take(never)).toBe(null)
    expect(await right.permits.take(never)).not.toBe(null)
    await probeIsDue(two.db)
    expect(await right.tend()).toBe('idle')
    wrong.answerWith(async () => 'well')
    expect(await wrong.tend()).toBe('probed')
    expect(wrong.kinds()).toEqual(['asking', 'probed', 'opened', 'probed', 'trying'])
    await expect.poll(() => wrong.permits.take(never)).not.toBe(null)
  })

  it('that nobody has any more are forgotten a few seconds after others came', async () => {
    await using two = await makeTwo(160, ['wrong', 'right'])
    const [wrong, right] = two.sides
    wrong.answerWith(async () => 'denied')
    await wrong.hearMany('denied', 3)
    await wrong.tend()
    await two.db.pool.query(`UPDATE rollcall.pace SET probe_at = now() + interval '1 min'`)
    await right.tend()
    expect(await readPace(two.db.pool)).toMatchObject({ breaker: 'open', nextProbeMs: 0 })
    await two.db.pool.query(`UPDATE rollcall.pace SET probe_at = now() - interval '6 s'`)
    // One is under way: somebody has them.
    await two.db.pool.query(`UPDATE rollcall.pace SET probe_until = now() + interval '1 min'`)
    await right.tend()
    expect(await readPace(two.db.pool)).toMatchObject({ breaker: 'open' })
    await two.db.pool.query('UPDATE rollcall.pace SET probe_until = NULL')
    await right.tend()
    expect(await readPace(two.db.pool)).toMatchObject({ breaker: 'closed', cause: null, rate: 160 })
  })
})
