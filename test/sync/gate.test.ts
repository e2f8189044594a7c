import { describe, expect, it } from 'vitest'
import type { Permit } from '../../src/pace/pace.ts'
import type { Memory } from '../../src/sync/memory.ts'
import { type ClaimRun, makeGate } from '../../src/sync/run.ts'
import { startTurn, type Turn } from '../../src/sync/turn.ts'

const MEMORY = { remote: 'present', sentStatus: 2, seenStatus: null } as Memory
const TURN = startTurn(MEMORY)
const LOOK = { plan: { kind: 'lookup', why: 'unknown' }, meaning: 'present', trusted: true } as const
const CALLED: Turn = { ...TURN, made: [LOOK] }
const STOPPING = { kind: 'retry', reason: { code: 'stopping' }, failed: false, waitMs: 0 }
const TOOK_TOO_LONG = { kind: 'retry', reason: { code: 'out-of-time' }, failed: true }
const OUT_OF_TIME = { ...STOPPING, reason: { code: 'out-of-time' } }

function scene({ hasTime = (): boolean => true } = {}) {
  const stopping = new AbortController()
  const expired = new AbortController()
  const first: Permit = { usableUntil: 1, epoch: '1', drops: 0 }
  const further: Permit = { usableUntil: 2, epoch: '2', drops: 0 }
  const givenBack: Permit[] = []
  const fallen = new Set<Permit>()
  const take: { now: (signal: AbortSignal) => Promise<Permit | null> } = { now: async () => further }
  const run = {
    claim: {},
    permit: first,
    hasTime,
    expired: expired.signal,
    stopping: stopping.signal,
  } as ClaimRun
  const context = {
    permits: {
      take: (signal: AbortSignal) => take.now(signal),
      stands: (permit: Permit) => !fallen.has(permit),
      giveBack: (permit: Permit) => void givenBack.push(permit),
      drop: () => undefined,
    },
  }
  const gate = makeGate(context, run)
  return { gate, stopping, expired, first, further, givenBack, fallen, take }
}

/** Waits until it is told to stop, as permits do. */
function untilAborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(null), { once: true }))
}

describe('the gate', () => {
  it('that closes for want of time, after reading or a call, counts as a failure, or it would begin anew for ever', async () => {
    const { gate } = scene({ hasTime: () => false })
    for (const turn of [TURN, CALLED]) expect(await gate.pass(turn)).toEqual({ end: TOOK_TOO_LONG })
  })

  it('is closed when there is no time for the whole request', async () => {
    const { gate, givenBack, first } = scene({ hasTime: () => false })
    expect(await gate.pass(TURN)).toEqual({ end: TOOK_TOO_LONG })
    gate.close()
    expect(givenBack).toEqual([first])
  })

  it('that our own pace has held up until there was no time is nothing against the customer, called or not', async () => {
    for (const [turn, waitMs] of [
      [TURN, 0],
      [CALLED, 5000],
    ] as const) {
      let waited = false
      const { gate, take, further } = scene({ hasTime: () => !waited })
      await gate.pass(TURN)
      take.now = async () => {
        waited = true
        return further
      }
      expect(await gate.pass(turn)).toEqual({ end: { ...OUT_OF_TIME, waitMs } })
    }
  })

  it('is closed while stopping, also when that begins during a wait that succeeds', async () => {
    const { gate, stopping, take, further } = scene()
    await gate.pass(TURN)
    take.now = async () => {
      stopping.abort()
      return further
    }
    expect(await gate.pass(TURN)).toEqual({ end: STOPPING })
    expect(await gate.pass(TURN)).toEqual({ end: STOPPING })
  })

  it.each([
    ['stopping', STOPPING],
    ['expired', OUT_OF_TIME],
  ] as const)('ends the wait for a permit when the claim is %s', async (signal, end) => {
    const made = scene()
    await made.gate.pass(TURN)
    made.take.now = untilAborted
    const passing = made.gate.pass(TURN)
    made[signal].abort()
    expect(await passing).toEqual({ end })
  })

  it('is closed while no process may call the service, which is nothing against the customer', async () => {
    const { gate, take } = scene()
    await gate.pass(TURN)
    take.now = async () => null
    for (const turn of [TURN, CALLED])
      expect(await gate.pass(turn)).toEqual({
        end: { ...STOPPING, reason: { code: 'paused' }, waitMs: 5000 },
      })
  })

  it('makes no call with a permit of before all processes had to slow down', async () => {
    const { gate, fallen, first, take, givenBack } = scene()
    fallen.add(first)
    take.now = async () => null
    expect(await gate.pass(TURN)).toMatchObject({ end: { reason: { code: 'paused' } } })
    expect(givenBack).toEqual([first])
    gate.close()
    expect(givenBack).toEqual([first])
  })
})
