// When checks may be made, how fast, and when a run ends instead.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { makeRunGate, type Preconditions, refill, SHARE } from '../../src/drift/gate.ts'

const FINE: Preconditions = { rate: 100, liveWaits: false, current: true, swept: true, gap: false }

/** A gate on a clock of its own, on which sleeping takes no time. */
function gateAt(preconditions: (nowMs: number) => Partial<Preconditions>, rate: number | null = null) {
  let nowMs = 0
  let tended = 0
  const beats: boolean[] = []
  const stop = new AbortController()
  const gate = makeRunGate({
    preconditions: async () => ({ ...FINE, ...preconditions(nowMs) }),
    rate,
    tend: async () => tended++,
    onBeat: (stopped) => beats.push(stopped),
    async sleep(ms) {
      nowMs += ms
    },
    monotonic: () => nowMs,
    signal: stop.signal,
  })
  return { gate, stop, beats, now: () => nowMs, tended: () => tended }
}
const room = ({ gate }: ReturnType<typeof gateAt>) => gate.room(() => null)
const agreed = (count: number) =>
  Array.from({ length: count }, () => ({ verdict: { kind: 'agrees' } }) as never)

describe('a gate', () => {
  test.each([
    ['half of the pace', null, 50],
    ['what was asked for', 20, 20],
    ['no more than the pace', 500, 100],
  ])('lets pass %s', async (_, rate, perSecond) => {
    const at = gateAt(() => ({}), rate)
    let calls = 0
    while (at.now() < 10_000) {
      const count = Number(await room(at))
      calls += count
      at.gate.spent(agreed(count))
    }
    expect(calls).toBeGreaterThan(perSecond * 9)
    expect(calls).toBeLessThanOrEqual(perSecond * 10.5)
  })

  test('stands back for what is owed, and not for ever', async () => {
    const short = gateAt((nowMs) => ({ liveWaits: nowMs < 1000 }))
    await room(short)
    expect(short.now()).toBeGreaterThanOrEqual(1000)
    const long = gateAt(() => ({ liveWaits: true }))
    expect(await room(long)).toBeGreaterThan(0)
    expect(long.now()).toBeLessThan(4000)
  })

  test('waits a while for a pace that is stopped, finding out whether it may go on', async () => {
    const back = gateAt((nowMs) => ({ rate: nowMs < 5000 ? 0 : 100 }))
    expect(await room(back)).toBeGreaterThan(0)
    expect(back.tended()).toBeGreaterThan(5)
    expect([back.beats[0], back.beats.at(-1)]).toEqual([true, false])
    expect(await room(gateAt(() => ({ rate: 0 })))).toEqual({ kind: 'stopped', why: 'pace' })
  })

  test.each<[Partial<Preconditions>, string]>([
    [{ current: false, swept: false }, 'mapping'],
    [{ swept: false, gap: true }, 'unswept'],
    [{ gap: true, rate: 0 }, 'gap'],
  ])('%j: refused, %s', async (preconditions, why) => {
    expect(await room(gateAt(() => preconditions))).toEqual({ kind: 'refused', why })
  })

  test('says what it doubts as soon as calls are stopped, and ends at once when it is asked to', async () => {
    const doubted = gateAt(() => ({ rate: 0 }))
    const end = await doubted.gate.room(() => 'no-answers')
    expect([end, doubted.now()]).toEqual([{ kind: 'not-credible', why: 'no-answers' }, 0])
    const stopped = gateAt(() => ({}))
    stopped.stop.abort()
    expect(await room(stopped)).toEqual({ kind: 'stopped', why: 'asked' })
  })
})

describe('what ticks may take of the pace', () => {
  test('is a quarter, gathered for half a second at most, and a call now and then at a low rate', () => {
    const taken = (rate: number, afterMs: number) =>
      refill({ left: 0, at: 0 }, rate * SHARE.tick, afterMs).left
    expect([taken(80, 100), taken(80, 60_000), taken(0.4, 60_000)]).toEqual([2, 10, 1])
  })

  test('is never more than a quarter over any time, but for what one moment gathers', () => {
    const step = fc.record({
      wait: fc.integer({ min: -50, max: 2000 }),
      wants: fc.integer({ min: 0, max: 30 }),
    })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), fc.array(step, { maxLength: 60 }), (rate, steps) => {
        let allowance = { left: 0, at: 0 }
        let [now, passed, made] = [0, 0, 0]
        for (const { wait, wants } of steps) {
          now += wait
          passed += Math.max(0, wait)
          allowance = refill(allowance, rate * SHARE.tick, now)
          const calls = Math.min(wants, Math.floor(allowance.left))
          allowance = { ...allowance, left: allowance.left - calls }
          made += calls
        }
        expect(made).toBeLessThanOrEqual((passed / 1000) * rate * 0.25 + 1)
      }),
    )
  })
})
