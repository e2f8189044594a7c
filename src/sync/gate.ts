import type { Permit } from '../pace/permits.ts'
import { type Plan, takesAccess } from './plan.ts'
import type { Run, SyncContext } from './run.ts'
import type { Turn, TurnEnd } from './turn.ts'

/**
 * What must be had before each call of a claim: leave to take somebody's access away, a permit of the common
 * pace, and enough of the claim's lifetime for the whole request. An ending where one of them is missing.
 */
export function makeGate(context: Pick<SyncContext, 'permits' | 'reserveRevocation'>, run: Run) {
  let permit: Permit | null = run.permit
  return {
    async pass(plan: Plan, turn: Turn): Promise<TurnEnd | null> {
      if (run.stopping.aborted) return released('stopping')
      permit ??= await takePermit(context.permits, run)
      // After the permit, so that what is reserved takes effect at once and not when the pace allows it.
      if (permit && takesAccess(plan, turn.memory)) {
        const { waitMs, code } = await context.reserveRevocation(run.claim)
        if (waitMs > 0) return { kind: 'retry', reason: { code }, failed: false, waitMs }
      }
      // Last of all, so that nothing stands between this look and the call.
      if (run.stopping.aborted) return released('stopping')
      if (permit && run.hasTime()) {
        permit = null
        return null
      }
      // With a call made and no time for the next, the same would happen at once again, and for ever.
      const called = turn.wrote || turn.lookups > 0
      return called
        ? { kind: 'retry', reason: { code: 'out-of-time' }, failed: true }
        : released('out-of-time')
    },
    /** The permit that no call was made with goes back. */
    close(): void {
      if (permit) context.permits.giveBack(permit)
      permit = null
    },
  }
}

/** Null when the wait was not worth going on: the service may have asked everybody to stay away for an hour. */
async function takePermit(
  permits: SyncContext['permits'],
  { stopping, expired }: Run,
): Promise<Permit | null> {
  const enough = AbortSignal.any([stopping, expired])
  try {
    return await permits.take(enough)
  } catch (error) {
    if (!enough.aborted) throw error
    return null
  }
}

/** The claim is given up without a call and is due again at once. */
function released(code: 'stopping' | 'out-of-time'): TurnEnd {
  return { kind: 'retry', reason: { code }, failed: false, waitMs: 0, released: true }
}
