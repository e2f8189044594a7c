import { describe, expect, it } from 'vitest'
import type { Permit, Sign } from '../../src/pace/pace.ts'
import { makeProving } from '../../src/pace/proving.ts'

const PERMIT: Permit = { usableUntil: Number.POSITIVE_INFINITY, epoch: '0', drops: 0 }
const call = (sign: Sign) => ({ id: '1', epoch: '0', sign, busy: false, holdMs: 0 })

function scene() {
  let time = 0
  let closed = false
  const waits: (() => void)[] = []
  const { permits, heard } = makeProving({
    permits: {
      take: async () => (closed ? null : PERMIT),
      stands: () => true,
      giveBack: () => undefined,
      drop: () => undefined,
    },
    heard: async () => undefined,
    sleep: () => new Promise((resolve) => waits.push(resolve)),
    now: () => time,
  })
  let taken = 0
  const stop = new AbortController()
  const take = (count: number) =>
    Array.from({ length: count }, () => permits.take(stop.signal).then((permit) => permit && taken++))
  return {
    ...{ permits, heard, take, stop },
    later: (ms: number) => (time += ms),
    close: () => (closed = true),
    /** Everybody who waits looks again. */
    async settled(): Promise<number> {
      for (let round = 0; round < 3; round++) {
        for (const wake of waits.splice(0)) wake()
        await new Promise((resolve) => setImmediate(resolve))
      }
      return taken
    },
  }
}

describe('a process that does not know whether its credentials are taken', () => {
  it('makes a few calls at once, and all it may once one was taken', async () => {
    const { take, settled, heard } = scene()
    take(20)
    expect(await settled()).toBe(3)
    await heard(call('trouble'))
    expect(await settled()).toBe(4)
    await heard(call('well'))
    expect(await settled()).toBe(20)
  })

  it('is careful again once they were refused', async () => {
    const { take, settled, heard } = scene()
    await heard(call('well'))
    take(10)
    expect(await settled()).toBe(10)
    await heard(call('denied'))
    take(5)
    expect(await settled()).toBe(10)
    for (let back = 0; back < 7; back++) await heard(call('denied'))
    expect(await settled()).toBe(11)
  })

  it('gets back what was not used, and forgets what nobody heard of', async () => {
    const { take, settled, permits, later } = scene()
    take(5)
    expect(await settled()).toBe(3)
    permits.giveBack(PERMIT)
    expect(await settled()).toBe(4)
    later(60_000)
    expect(await settled()).toBe(5)
  })

  it('is told at once that nobody may call, and stops waiting when it is told to', async () => {
    const { close, permits, stop } = scene()
    close()
    expect(await permits.take(stop.signal)).toBeNull()
    expect(await permits.take(stop.signal)).toBeNull()
    const other = scene()
    other.take(3)
    const waiting = expect(Promise.all(other.take(1))).rejects.toThrow('stop')
    other.stop.abort(new Error('stop'))
    await other.settled()
    await waiting
  })
})
