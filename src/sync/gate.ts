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
      if (takesAccess(plan, turn.memory)) {
        const waitMs = await context.reserveRevocation(run.claim)
        if (waitMs > 0) return { kind: 'retry', reason: { code: 'revocation-cap' }, failed: false, waitMs }
      }
      try {
        permit ??= await context.permits.take(run.stopping)
      } catch (error) {
        if (run.stopping.aborted) return released('stopping')
        throw error
      }
      // Last of all, so that nothing stands between this look at the clock and the call.
      if (!run.hasTime()) return released('out-of-time')
      permit = null
      return null
    },
    /** The permit that no call was made with goes back. */
    close(): void {
      if (permit) context.permits.giveBack(permit)
      permit = null
    },
  }
}

/** The claim is given up without a call and is due again at once. */
function released(code: string): TurnEnd {
  return { kind: 'retry', reason: { code }, failed: false, waitMs: 0 }
}
