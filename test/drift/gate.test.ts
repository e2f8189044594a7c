// When a run may look at somebody, how fast, and when it ends instead.
import { describe, expect, test } from 'vitest'
import type { Circumstances } from '../../src/drift/allowance.ts'
import { speedOf } from '../../src/drift/allowance.ts'
import { makeRunGate } from '../../src/drift/gate.ts'

const FINE: Circumstances = { rate: 100, liveWaits: false, current: true, swept: true, gap: false }

/** A gate on a clock of its own, on which sleeping takes no time. */
function gateAt(circumstances: (nowMs: number) => Partial<Circumstances>, rate: number | null = null) {
  let nowMs = 0
  let tended = 0
  const beats: boolean[] = []
  const stop = new AbortController()
  const gate = makeRunGate({
    circumstances: async () => ({ ...FINE, ...circumstances(nowMs) }),
    rate,
    tend: async () => tended++,
    onBeat: (stopped) => beats.push(stopped),
    async sleep(ms) {
      nowMs += ms
    },
    monotonic: () => nowMs,
    signal: stop.signal,
    patienceMs: 10_000,
  })
  return { gate, stop, beats, now: () => nowMs, tended: () => tended }
}
const room = ({ gate }: ReturnType<typeof gateAt>) => gate.room(() => null)
const agreed = (count: number) =>
  Array.from({ length: count }, () => ({ verdict: { kind: 'agrees' } }) as never)

describe('a gate', () => {
  test('leaves half of the pace to others, or what was asked for', async () => {
    expect([speedOf(100, null), speedOf(100, 5), speedOf(100, 500)]).toEqual([50, 5, 100])
    for (const [rate, perSecond] of [
      [null, 50],
      [20, 20],
    ] as const) {
      const at = gateAt(() => ({}), rate)
      let calls = 0
      while (at.now() < 10_000) {
        const count = Number(await room(at))
        calls += count
        at.gate.spent(agreed(count))
      }
      expect(calls).toBeGreaterThan(perSecond * 9)
      expect(calls).toBeLessThanOrEqual(perSecond * 10.5)
    }
  })

  test('lets those pass for nothing of whom no call was made', async () => {
    const at = gateAt(() => ({}), 10)
    for (let turns = 0; turns < 100; turns++) {
      await room(at)
      at.gate.spent([{ verdict: { kind: 'skipped', why: 'not-ours' } } as never])
    }
    expect(at.now()).toBeLessThan(1000)
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
    // Whoever waits for it hears of that, and of its end.
    expect([back.beats[0], back.beats.at(-1)]).toEqual([true, false])
    expect(await room(gateAt(() => ({ rate: 0 })))).toEqual({ kind: 'stopped', why: 'pace' })
  })

  test.each<[Partial<Circumstances>, object]>([
    [{ current: false }, { kind: 'refused', why: 'mapping' }],
    [{ swept: false }, { kind: 'refused', why: 'unswept' }],
    [{ gap: true }, { kind: 'refused', why: 'gap' }],
  ])('%j: %j', async (circumstances, end) => {
    expect(await room(gateAt(() => circumstances))).toEqual(end)
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
