import { describe, expect, it } from 'vitest'
import { countCall, type Keys, makeKeys, probedKeys, TAKEN } from '../../src/pace/keys.ts'
import type { ServiceHealth as Health, Permit } from '../../src/pace/pace.ts'

const PERMIT: Permit = { usableUntil: Number.POSITIVE_INFINITY, epoch: '0', drops: 0 }
const call = (health: Health, id = '1') => ({ id, epoch: '0', health, busy: false, holdMs: 0 })

function scene() {
  let time = 0
  let closed = false
  let refused: Promise<null> | null = null
  const waits: (() => void)[] = []
  const keys = makeKeys({
    permits: {
      async take() {
        const refusal = refused
        refused = null
        return refusal ? await refusal : closed ? null : PERMIT
      },
      stands: () => true,
      giveBack: () => undefined,
      drop: () => undefined,
    },
    report: async () => undefined,
    sleep: () => new Promise((resolve) => waits.push(resolve)),
    now: () => time,
    random: () => 0,
    onChange: () => undefined,
  })
  const { permits, report } = keys
  let taken = 0
  const stop = new AbortController()
  const take = (count: number) =>
    Array.from({ length: count }, () => permits.take(stop.signal).then((permit) => permit && taken++))
  return {
    ...{ permits, report, take, stop, probed: keys.probed },
    later: (ms: number) => (time += ms),
    close: () => (closed = true),
    /** The next permit is refused, once the returned function is called. */
    refuse: () => {
      const { promise, resolve } = Promise.withResolvers<null>()
      refused = promise
      return () => resolve(null)
    },
    /** Every waiting process polls again. */
    async settled(): Promise<number> {
      for (let round = 0; round < 3; round++) {
        for (const wake of waits.splice(0)) wake()
        await new Promise((resolve) => setImmediate(resolve))
      }
      return taken
    },
  }
}

const NOW = 1_000_000

/** `3d 1w`: three denied calls of customers 1, 2, 3 and so on, then a good one. */
function reported(keys: Keys, calls: string, { customers = 1000, now = NOW } = {}): Keys {
  const healths: Record<string, Health> = { t: 'trouble', w: 'well', d: 'denied', n: 'neutral' }
  let customer = 0
  return [...calls.matchAll(/(\d+)([a-z])/g)]
    .flatMap(([, count, letter = '']) => Array<Health>(Number(count)).fill(healths[letter] ?? 'neutral'))
    .reduce((after, health) => countCall(after, call(health, String(customer++ % customers)), now), keys)
}

describe('denied calls', () => {
  it.each([
    ['3d', 3, 'asking'],
    ['2d', 2, null],
    ['300d', 2, null],
    ['2d 1w 2d', 1000, null],
    ['2d 1t 1n 1d', 1000, 'asking'],
    ['100t', 1000, null],
  ])('%s of %d customers: %s', (calls, customers, stopped) => {
    expect(reported(TAKEN, calls, { customers }).stopped).toBe(stopped)
  })

  const ASKING = reported(TAKEN, '3d')

  it.each([
    ['denied', { stopped: 'refused', failed: 1, probeAt: NOW + 5000 }],
    ['well', { stopped: null, denied: {}, quietUntil: NOW + 5000 }],
    ['neutral', { stopped: null, denied: {}, quietUntil: NOW + 5000 }],
    ['trouble', { stopped: null, denied: {}, quietUntil: NOW + 5000 }],
  ] as const)('and then a probe that is %s', (health, after) => {
    expect(probedKeys(ASKING, health, NOW, 0)).toMatchObject(after)
  })

  it('of customers who are refused one by one cost ever fewer probes', () => {
    let keys = TAKEN
    let now = NOW
    const waits: number[] = []
    for (let n = 0; n < 6; n++) {
      keys = probedKeys(reported(keys, '3d', { now }), 'well', now, 0)
      const wait = keys.quietUntil - now
      waits.push(wait)
      expect(reported(keys, '100d', { now: now + wait - 1 }).stopped).toBe(null)
      now += wait
    }
    expect(waits).toEqual([5000, 10_000, 20_000, 40_000, 60_000, 60_000])
    const later = now + 600_001
    const asked = reported(keys, '3d', { now: later })
    expect(probedKeys(asked, 'well', later, 0).quietUntil).toBe(later + 5000)
  })
})

describe('refused keys', () => {
  const REFUSED = probedKeys(reported(TAKEN, '3d'), 'denied', NOW, 0)

  it.each(['denied', 'trouble', 'neutral'] as const)('stay so after a probe that is %s', (health) => {
    expect(probedKeys(REFUSED, health, NOW, 0)).toMatchObject({
      ...{ stopped: 'refused', since: NOW, failed: 2, probeAt: NOW + 10_000 },
    })
    expect(reported(REFUSED, '20w 20d')).toBe(REFUSED)
  })

  it('are taken again after one that is well', () => {
    expect(probedKeys(REFUSED, 'well', NOW, 0)).toEqual(TAKEN)
  })
})

it('a process whose keys are refused sends all who wait away, and goes on with a few after a probe that is well', async () => {
  const { take, settled, report, probed } = scene()
  const waiting = take(5)
  expect(await settled()).toBe(3)
  for (const id of ['1', '2', '3']) await report(call('denied', id))
  await settled()
  expect((await Promise.all(waiting)).slice(3)).toEqual([null, null])
  probed('well')
  take(5)
  expect(await settled()).toBe(6)
})

describe('a process that does not know whether its keys are taken', () => {
  it('makes a few calls at once, and all it may once one was taken', async () => {
    const { take, settled, report } = scene()
    take(20)
    expect(await settled()).toBe(3)
    await report(call('trouble'))
    expect(await settled()).toBe(4)
    await report(call('well'))
    expect(await settled()).toBe(20)
  })

  it('is careful again once they were refused', async () => {
    const { take, settled, report } = scene()
    await report(call('well'))
    take(10)
    expect(await settled()).toBe(10)
    await report(call('denied'))
    take(5)
    expect(await settled()).toBe(10)
    for (let back = 0; back < 7; back++) await report(call('denied'))
    expect(await settled()).toBe(11)
  })

  it('gets back what was not used, and forgets what got no answer', async () => {
    const { take, settled, permits, later } = scene()
    take(5)
    expect(await settled()).toBe(3)
    permits.giveBack(PERMIT)
    expect(await settled()).toBe(4)
    later(1000)
    expect(await settled()).toBe(5)
  })

  it('is given no slot of another call by one that waited too long for its permit', async () => {
    const { take, settled, later, refuse } = scene()
    const waited = refuse()
    take(1)
    await settled()
    later(60_000)
    take(3)
    expect(await settled()).toBe(3)
    waited()
    take(1)
    expect(await settled()).toBe(3)
  })

  it('learns at once that no worker may call, and stops waiting when it is told to', async () => {
    const { close, permits, stop } = scene()
    close()
    expect(await permits.take(stop.signal)).toBeNull()
    expect(await permits.take(stop.signal)).toBeNull()
    const other = scene()
    other.take(3)
    const [waiting] = other.take(1)
    other.stop.abort()
    await other.settled()
    expect(await waiting).toBeNull()
  })
})
