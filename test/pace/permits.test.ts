import { describe, expect, it } from 'vitest'
import type { Permit, Permits } from '../../src/pace/pace.ts'
import { makePermits } from '../../src/pace/permits.ts'
import { makePaceRow } from '../support/pace-row.ts'

const never = new AbortController().signal

async function granted(permits: Permits): Promise<Permit> {
  const permit = await permits.take(never)
  if (!permit) throw new Error('no process may call')
  return permit
}

function atRate(ratePerSecond: number) {
  const row = makePaceRow(ratePerSecond)
  return { row, permits: makePermits(row) }
}

/** `count` waiters at once; the times at which each got its permit. */
function waiters({ row, permits }: ReturnType<typeof atRate>, count: number) {
  const times: number[] = []
  const taken = Array.from({ length: count }, () =>
    permits.take(never).then((permit) => {
      times.push(row.now())
      return permit
    }),
  )
  return { times, taken }
}

describe.each([1, 7, 50, 400])('permits at %i calls a second', (rate) => {
  it('keep the pace over a long run to within a permit or two', async () => {
    const { row, permits } = atRate(rate)
    const seconds = Math.max(2, Math.round(200 / rate))
    const { times } = waiters({ row, permits }, rate * seconds)
    await row.run()
    expect(times.length).toBe(rate * seconds)
    for (const [n, at] of times.entries()) {
      expect(n).toBeLessThanOrEqual((at * rate) / 1000 + 2)
      expect(n).toBeGreaterThanOrEqual((at * rate) / 1000 - 2)
    }
  })

  it('keep it when calls take time and the waiters come and go', async () => {
    const { row, permits } = atRate(rate)
    const times: number[] = []
    const total = rate * 3
    const caller = async (): Promise<void> => {
      while (times.length < total) {
        await permits.take(never)
        times.push(row.now())
        await row.sleep(37, never)
      }
    }
    for (let n = 0; n < 20; n++) void caller()
    await row.run()
    for (const [n, at] of times.entries()) expect(n).toBeLessThanOrEqual((at * rate) / 1000 + 2)
  })
})

describe('permits', () => {
  it('ask the row for all who wait together', async () => {
    const { row, permits } = atRate(1000)
    waiters({ row, permits }, 100)
    await row.run()
    expect(row.asked).toEqual([100])
  })

  it('serve the waiters in order', async () => {
    const { row, permits } = atRate(100)
    const order: number[] = []
    for (let n = 0; n < 50; n++) void permits.take(never).then(() => order.push(n))
    await row.run()
    expect(order).toEqual(Array.from({ length: 50 }, (_, n) => n))
  })

  it('that are given back are used before another is asked for', async () => {
    const { row, permits } = atRate(10)
    permits.giveBack(await granted(permits))
    await permits.take(never)
    expect(row.asked.length).toBe(1)
    expect(row.now()).toBe(0)
  })

  it('that were given back too long ago are not used', async () => {
    const { row, permits } = atRate(10)
    const permit = await granted(permits)
    permits.giveBack(permit)
    expect(permits.stands(permit)).toBe(true)
    await row.run(10_000)
    expect(permits.stands(permit)).toBe(false)
    await permits.take(never)
    expect(row.asked.length).toBe(2)
  })

  it('are not handed out before the time that the service named', async () => {
    const { row, permits } = atRate(100)
    const { times } = waiters({ row, permits }, 30)
    await row.run(95)
    const before = times.length
    row.notBefore = 5000
    permits.drop()
    await row.run()
    expect(before).toBe(10)
    expect(times.length).toBe(30)
    expect(times[before]).toBeGreaterThanOrEqual(5000)
  })

  it('that were given back are dropped as well', async () => {
    const { row, permits } = atRate(100)
    permits.giveBack(await granted(permits))
    row.notBefore = 5000
    permits.drop()
    const { times } = waiters({ row, permits }, 1)
    await row.run()
    expect(times).toEqual([5000])
  })

  it('that were reserved while the service asked for a pause are not used', async () => {
    const { row, permits } = atRate(100)
    row.meanwhile = () => {
      row.notBefore = 5000
      permits.drop()
    }
    const { times } = waiters({ row, permits }, 1)
    await row.run()
    expect(times).toEqual([5000])
  })

  it('are not handed out to a claim that has given up, and not lost by it', async () => {
    const { row, permits } = atRate(10)
    const first = await granted(permits)
    const stop = new AbortController()
    const given: (Permit | null)[] = [first]
    void permits.take(stop.signal).then((permit) => given.push(permit))
    const { times } = waiters({ row, permits }, 1)
    await row.run(50)
    stop.abort()
    await row.run()
    expect(given).toEqual([first, null])
    expect(times).toEqual([100])
  })

  it('are refused at once to a claim that has given up before', async () => {
    const { row, permits } = atRate(10)
    expect(await permits.take(AbortSignal.abort())).toBe(null)
    expect(row.asked).toEqual([])
  })

  it('go on after the row could not be asked', async () => {
    const row = makePaceRow(10)
    let broken = true
    const reserve: typeof row.reserve = async (count) => {
      if (broken) throw new Error('connection lost')
      return row.reserve(count)
    }
    const permits = makePermits({ ...row, reserve })
    await expect(permits.take(never)).rejects.toThrow('connection lost')
    broken = false
    await expect(permits.take(never)).resolves.toHaveProperty('usableUntil')
    expect(row.asked).toEqual([1])
  })

  it('carry the epoch in which they were reserved', async () => {
    const { row, permits } = atRate(10)
    row.epoch = '7'
    expect(await granted(permits)).toMatchObject({ epoch: '7' })
  })

  it('are refused at once to all who wait while no process may call, asking for all of them together', async () => {
    const { row, permits } = atRate(10)
    row.closed = true
    expect(await Promise.all(Array.from({ length: 30 }, () => permits.take(never)))).toEqual(
      Array.from({ length: 30 }, () => null),
    )
    await row.run(50)
    expect(await permits.take(never)).toBe(null)
    expect(row.asked).toEqual([30])
    row.closed = false
    await row.run(500)
    expect(await permits.take(never)).toMatchObject({ usableUntil: expect.any(Number) })
  })

  it('are refused soon to those who wait already when it begins', async () => {
    const { row, permits } = atRate(10)
    row.notBefore = 3_600_000
    const reported: unknown[] = []
    for (let n = 0; n < 5; n++) void permits.take(never).then((permit) => reported.push(permit))
    await row.run(10_000)
    expect(reported).toEqual([])
    row.closed = true
    await row.run(12_000)
    expect(reported).toEqual([null, null, null, null, null])
  })

  it('that were given back are gone when no process may call', async () => {
    const { row, permits } = atRate(10)
    const [first, second] = [await granted(permits), permits.take(never)]
    row.closed = true
    permits.giveBack(first)
    await row.run(50)
    permits.drop()
    await row.run()
    expect(await second).toBe(first)
    expect(await permits.take(never)).toBe(null)
  })
})
