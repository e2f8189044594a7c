import { describe, expect, it } from 'vitest'
import { makeLately, makeLoopHealth, makeReadiness } from '../../src/ops/health.ts'

const never = () => new Promise<never>(() => {})

describe('the loops', () => {
  const limits = { dispatch: 60_000 }
  const watching = () => {
    const clock = { at: 0 }
    return { clock, loops: makeLoopHealth<'dispatch' | 'sweep'>({ limits, now: () => clock.at }) }
  }

  it('are well while their steps end, also when they fail', async () => {
    const { clock, loops } = watching()
    let failed = 0
    const fails = () => Promise.reject(new Error('no database'))
    const step = loops.watch('dispatch', fails, () => failed++)
    for (const at of [50_000, 100_000, 150_000]) {
      clock.at = at
      await expect(step()).rejects.toThrow('no database')
      expect(loops.health()).toEqual({ ok: true, stuck: [] })
    }
    expect(failed).toBe(3)
  })

  it('are not when one hangs, from its very first step on; without a limit one may take its time', () => {
    const { clock, loops } = watching()
    for (const loop of ['dispatch', 'sweep'] as const) void loops.watch(loop, never, () => {})()
    clock.at = 60_000
    expect(loops.health().ok).toBe(true)
    clock.at = 75_000
    expect(loops.health()).toEqual({ ok: false, stuck: [{ loop: 'dispatch', silentSeconds: 75 }] })
    expect(loops.silent()).toContainEqual(['sweep', 75_000])
  })
})

const parts = { postgres: 'Postgres does not answer', queue: 'the queue does not answer' }

it('readiness names what has not started, fails, says no or hangs, and never what an error said', async () => {
  const troubles: string[] = []
  const { watch, readiness } = makeReadiness<keyof typeof parts>({
    ...{ parts, now: () => performance.now(), onTrouble: (part) => void troubles.push(part) },
  })
  const what = 'the worker is still starting: see its log'
  expect((await readiness()).missing).toEqual(Object.keys(parts).map((part) => ({ part, what })))
  watch('postgres', () => Promise.reject(new Error('password secreto')))
  watch('queue', never)
  const missing = Object.entries(parts).map(([part, what]) => ({ part, what }))
  expect(await readiness()).toEqual({ ready: false, missing })
  expect(troubles).toEqual(['postgres'])
  watch('postgres', async () => true)
  watch('queue', async () => false)
  expect((await readiness()).missing).toEqual([{ part: 'queue', what: parts.queue }])
  watch('queue', async () => true)
  expect(await readiness()).toEqual({ ready: true, missing: [] })
})

describe('what was said lately', () => {
  const asking = (ask: () => Promise<number>, options = {}) => {
    const clock = { at: 0 }
    const limits = { keepMs: 5000, deadlineMs: 20 }
    const lately = makeLately({ ask, ...limits, now: () => clock.at, onTrouble: () => {}, ...options })
    return { clock, lately }
  }

  it('is asked once for all who want to know at one time, and again when it is old', async () => {
    let asked = 0
    const { clock, lately } = asking(async () => ++asked)
    expect(await Promise.all([lately(), lately(), lately()])).toEqual([1, 1, 1])
    clock.at = 4999
    expect(await lately()).toBe(1)
    clock.at = 5000
    expect(await lately()).toBe(2)
  })

  it('is nothing after a failure, which is not tried again at once', async () => {
    let asked = 0
    const { clock, lately } = asking(async () => {
      asked++
      if (asked === 2) throw new Error('away')
      return asked
    })
    expect(await lately()).toBe(1)
    clock.at = 5000
    expect(await lately()).toBeNull()
    clock.at = 9999
    expect([await lately(), asked]).toEqual([null, 2])
    clock.at = 10_000
    expect(await lately()).toBe(3)
  })

  it('is waited for no longer than the deadline, and then what it said before does for a while', async () => {
    let asked = 0
    const { clock, lately } = asking(() => (asked++ === 0 ? Promise.resolve(7) : never()), {
      staleMs: 30_000,
    })
    expect(await lately()).toBe(7)
    clock.at = 34_999
    expect(await lately()).toBe(7)
    clock.at = 35_000
    expect(await lately()).toBeNull()
    expect(asked).toBe(2)
  })
})
