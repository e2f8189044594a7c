// When a run may check, how fast, and when it ends instead.
import { describe, expect, test } from 'vitest'
import type { Preconditions } from '../../src/drift/preconditions.ts'
import { makeRunGate } from '../../src/drift/run-gate.ts'

const FINE: Preconditions = { rate: 100, liveWaits: false, unsettled: null }

/** A gate on a clock of its own, on which sleeping takes no time. */
function gateAt(preconditions: (nowMs: number) => Partial<Preconditions>, rate: number | null = null) {
  let nowMs = 0
  let probes = 0
  const beats: boolean[] = []
  const stop = new AbortController()
  const gate = makeRunGate({
    preconditions: async () => ({ ...FINE, ...preconditions(nowMs) }),
    rate,
    probe: async () => probes++,
    onBeat: (stopped) => beats.push(stopped),
    async sleep(ms) {
      nowMs += ms
    },
    monotonic: () => nowMs,
    signal: stop.signal,
  })
  return { gate, stop, beats, now: () => nowMs, probes: () => probes }
}
const room = ({ gate }: ReturnType<typeof gateAt>) => gate.room(() => null)

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
      at.gate.spend(count)
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
    expect(back.probes()).toBeGreaterThan(5)
    expect([back.beats[0], back.beats.at(-1)]).toEqual([true, false])
    expect(await room(gateAt(() => ({ rate: 0 })))).toEqual({ kind: 'stopped', why: 'pace' })
  })

  test('is refused where a difference may be about to be owed, also while calls are stopped', async () => {
    const unsettled = gateAt(() => ({ unsettled: 'unswept', rate: 0 }))
    expect(await room(unsettled)).toEqual({ kind: 'refused', why: 'unswept' })
  })

  test('says why it is not credible as soon as calls are stopped, and ends at once when it is asked to', async () => {
    const silent = gateAt(() => ({ rate: 0 }))
    const end = await silent.gate.room(() => 'no-answers')
    expect([end, silent.now()]).toEqual([{ kind: 'not-credible', why: 'no-answers' }, 0])
    const stopped = gateAt(() => ({}))
    stopped.stop.abort()
    expect(await room(stopped)).toEqual({ kind: 'stopped', why: 'asked' })
  })
})
