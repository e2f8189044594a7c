import { describe, expect, it } from 'vitest'
import type { Permit } from '../../src/pace/pace.ts'
import type { MadeCall, Memory } from '../../src/sync/memory.ts'
import { type ClaimRun, giveBackPermit, takePermit } from '../../src/sync/run.ts'

const LOOK: MadeCall = { method: 'GET', meaning: 'present', trusted: true, fields: [], leavesTrial: false }
const UNCALLED = { made: [] }
const CALLED = { made: [LOOK] }
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
  const forCall = (calls: Pick<Memory, 'made'>) => takePermit(context, run, calls)
  const close = () => giveBackPermit(context, run)
  return { forCall, close, stopping, expired, first, further, givenBack, fallen, take }
}

/** Waits until it is told to stop, as permits do. */
function untilAborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(null), { once: true }))
}

describe('a permit for a call', () => {
  it('is refused for want of time after reading or a call, which counts as a failure, or it would begin anew for ever', async () => {
    const { forCall } = scene({ hasTime: () => false })
    for (const calls of [UNCALLED, CALLED]) expect(await forCall(calls)).toEqual({ end: TOOK_TOO_LONG })
  })

  it('is refused when there is no time for the whole request', async () => {
    const { forCall, close, givenBack, first } = scene({ hasTime: () => false })
    expect(await forCall(UNCALLED)).toEqual({ end: TOOK_TOO_LONG })
    close()
    expect(givenBack).toEqual([first])
  })

  it('is refused if our own pace took all the time, which is nothing against the customer, called or not', async () => {
    for (const [calls, waitMs] of [
      [UNCALLED, 0],
      [CALLED, 5000],
    ] as const) {
      let waited = false
      const { forCall, take, further } = scene({ hasTime: () => !waited })
      await forCall(UNCALLED)
      take.now = async () => {
        waited = true
        return further
      }
      expect(await forCall(calls)).toEqual({ end: { ...OUT_OF_TIME, waitMs } })
    }
  })

  it('is refused while stopping, also when that begins during a wait that succeeds', async () => {
    const { forCall, stopping, take, further } = scene()
    await forCall(UNCALLED)
    take.now = async () => {
      stopping.abort()
      return further
    }
    expect(await forCall(UNCALLED)).toEqual({ end: STOPPING })
    expect(await forCall(UNCALLED)).toEqual({ end: STOPPING })
  })

  it.each([
    ['stopping', STOPPING],
    ['expired', OUT_OF_TIME],
  ] as const)('ends the wait for a permit when the claim is %s', async (signal, end) => {
    const made = scene()
    await made.forCall(UNCALLED)
    made.take.now = untilAborted
    const passing = made.forCall(UNCALLED)
    made[signal].abort()
    expect(await passing).toEqual({ end })
  })

  it('is refused while no process may call the service, which is nothing against the customer', async () => {
    const { forCall, take } = scene()
    await forCall(UNCALLED)
    take.now = async () => null
    for (const calls of [UNCALLED, CALLED])
      expect(await forCall(calls)).toEqual({ end: { ...STOPPING, reason: { code: 'paused' }, waitMs: 5000 } })
  })

  it('is taken anew if all processes had to slow down since it was taken', async () => {
    const { forCall, close, fallen, first, take, givenBack } = scene()
    fallen.add(first)
    take.now = async () => null
    expect(await forCall(UNCALLED)).toMatchObject({ end: { reason: { code: 'paused' } } })
    expect(givenBack).toEqual([first])
    close()
    expect(givenBack).toEqual([first])
  })
})
