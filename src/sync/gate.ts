import type { Permit } from '../pace/pace.ts'
import type { ClaimRun, SyncContext } from './context.ts'
import { givenUp, type Turn, type TurnEnd } from './turn.ts'

/** A customer that may not be called for now is tried again after this; while no call may be made, no job is put on the queue at all. */
const PAUSED_MS = 5000

/**
 * Asks for what each call of a claim needs: a permit of the common pace, and enough of the claim's lifetime for the
 * whole request. An ending where one of them is missing.
 */
export function makeGate({ permits }: Pick<SyncContext, 'permits'>, run: ClaimRun) {
  let permit: Permit | null = run.permit
  let { epoch } = run.permit

  /** An unused permit goes back. */
  function close(): void {
    if (permit) permits.giveBack(permit)
    permit = null
  }

  return {
    async pass(turn: Turn): Promise<TurnEnd | null> {
      if (run.stopping.aborted) return givenUp('stopping', 0)
      // Taken before all processes were told to stop, or to slow down.
      if (permit && !permits.stands(permit)) close()
      const called = turn.wrote || turn.lookups > 0
      // Reading the customer or a call has used the time up: the same would happen at once again, and for ever.
      if (!run.hasTime()) return { kind: 'retry', reason: { code: 'out-of-time' }, failed: true }
      // The wait may not be worth going on: the service may have asked all processes to wait for an hour.
      const over = AbortSignal.any([run.stopping, run.expired])
      permit ??= await permits.take(over)
      if (!permit && !over.aborted) return givenUp('paused', PAUSED_MS)
      // Last of all, so that nothing stands between this look and the call.
      if (run.stopping.aborted) return givenUp('stopping', 0)
      if (permit && run.hasTime()) {
        epoch = permit.epoch
        permit = null
        return null
      }
      // Our own pace left no time, which is nothing against the customer.
      return givenUp('out-of-time', called ? PAUSED_MS : 0)
    },
    /** The epoch of the permit that the last call was made with. */
    epoch: () => epoch,
    close,
  }
}
