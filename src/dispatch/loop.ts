type LoopOptions = {
  /** One step; resolves to whether there was anything to do. */
  readonly step: () => Promise<boolean>
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly now: () => number
  readonly signal: AbortSignal
  /** Between steps, in place of waits that follow the work. */
  readonly everyMs?: number
  /** Called for a failed step with how many have failed in a row, 0 when it goes again. */
  readonly onTrouble: (failures: number, error: unknown) => void
}

const BUSY_MS = 10
/** After work there is soon more, and a change that comes now should not wait long for the next poll. */
const WARM_MS = 2000
const IDLE_MS = 40
const MOST_IDLE_MS = 100
const TROUBLE_MS = 250
const MOST_TROUBLE_MS = 5000
/** A step that has become slow (a held snapshot makes polls of a churning table linear) is made less often. */
const SHARE_OF_TIME = 4

/** Repeats a step for ever: soon while there is work and just after it, ever more slowly while there is none or it fails. */
export async function runLoop({ step, sleep, now, signal, everyMs, onTrouble }: LoopOptions): Promise<void> {
  let wait = BUSY_MS
  let warmUntil = Number.NEGATIVE_INFINITY
  let failures = 0
  while (!signal.aborted) {
    const started = now()
    let busy = false
    try {
      busy = await step()
      if (failures > 0) onTrouble(0, null)
      failures = 0
      if (busy) warmUntil = now() + WARM_MS
      const idle = Math.min(MOST_IDLE_MS, Math.max(IDLE_MS, wait * 1.2))
      wait = everyMs ?? (now() < warmUntil ? BUSY_MS : idle)
    } catch (error) {
      failures++
      onTrouble(failures, error)
      wait = Math.min(MOST_TROUBLE_MS, TROUBLE_MS * 2 ** Math.min(failures, 10))
    }
    const share = busy && everyMs === undefined ? 0 : SHARE_OF_TIME
    await sleep(Math.max(wait, Math.min(MOST_TROUBLE_MS, (now() - started) * share)), signal)
  }
}
