import type { Permit } from '../pace/pace.ts'
import type { ClaimRun, SyncContext } from './context.ts'
import type { Turn, TurnEnd } from './turn.ts'

/** Whoever may not call now is asked again after this; while nobody may, no job is put on the queue at all. */
const PAUSED_MS = 5000

/**
 * What must be had before each call of a claim: a slot among the calls of this process, a permit of the common pace, and
 * enough of the claim's lifetime for the whole request. An ending where one of them is missing.
 */
export function makeGate(context: Pick<SyncContext, 'permits' | 'callSlots'>, run: ClaimRun) {
  let permit: Permit | null = run.permit
  let { epoch } = run.permit
  let slot = false

  function giveBack(): void {
    if (permit) context.permits.giveBack(permit)
    permit = null
  }

  function giveSlotBack(): void {
    if (slot) context.callSlots.giveBack()
    slot = false
  }

  return {
    async pass(turn: Turn): Promise<TurnEnd | null> {
      if (run.stopping.aborted) return released('stopping')
      // Taken before everybody was told to stop, or to slow down.
      if (permit && !context.permits.stands(permit)) giveBack()
      const called = turn.wrote || turn.lookups > 0
      // With a call made and no time for the next, the same would happen at once again, and for ever.
      if (called && !run.hasTime()) return { kind: 'retry', reason: { code: 'out-of-time' }, failed: true }
      slot ||= (await unlessOver(run, (signal) => context.callSlots.take(signal).then(() => true))) ?? false
      if (slot) {
        const taken = permit ?? (await takePermit(context.permits, run))
        if (taken === 'paused') return released('paused', PAUSED_MS)
        permit = taken
      }
      // Last of all, so that nothing stands between this look and the call.
      if (run.stopping.aborted) return released('stopping')
      if (slot && permit && run.hasTime()) {
        epoch = permit.epoch
        permit = null
        return null
      }
      // Our own pace left no time, which is nothing against the customer.
      return released('out-of-time', called ? PAUSED_MS : 0)
    },
    /** Of the permit that the last call was made with. */
    epoch: () => epoch,
    /** The call is over. */
    called: giveSlotBack,
    /** What no call was made with goes back. */
    close() {
      giveBack()
      giveSlotBack()
    },
  }
}

/** `paused`: nobody may call the service now. */
async function takePermit(permits: SyncContext['permits'], run: ClaimRun): Promise<Permit | 'paused' | null> {
  return await unlessOver(run, async (signal) => (await permits.take(signal)) ?? 'paused')
}

/** Null when the wait was not worth going on: the service may have asked everybody to stay away for an hour. */
async function unlessOver<T>(
  { stopping, expired }: ClaimRun,
  wait: (signal: AbortSignal) => Promise<T>,
): Promise<T | null> {
  const over = AbortSignal.any([stopping, expired])
  try {
    return await wait(over)
  } catch (error) {
    if (!over.aborted) throw error
    return null
  }
}

/** The claim is given up, and that is nothing against the customer. */
function released(code: 'stopping' | 'out-of-time' | 'paused', waitMs = 0): TurnEnd {
  return { kind: 'retry', reason: { code }, failed: false, waitMs, released: true }
}
