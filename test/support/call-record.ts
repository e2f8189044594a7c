// The caller hears an answer or none; the service carries a call out or not.
import type { Observers } from '../../src/worker/worker.ts'
import type { JournaledCall } from './explain.ts'

/** A request that the service saw. */
export type Arrival = {
  readonly userId: string | null
  readonly method: string
  readonly body: unknown
  /** Epoch milliseconds. */
  readonly arrivedAt: number
  readonly carriedOut: boolean
}

/** A call without what the service did. */
export type Made = Omit<JournaledCall, 'carriedOut'> & { readonly userId: string }

export type Recorder = {
  readonly made: readonly Made[]
  /** For every worker whose calls are to be known. */
  readonly observers: Pick<Observers, 'onStep'>
}

/** For customers whose key is one text, and the `user_id` too. */
export function recordCalls(): Recorder {
  const made: Made[] = []
  const begun = new Map<string, number>()
  return {
    made,
    observers: {
      onStep(key, step, { token }) {
        if (step.step === 'planned') begun.set(token, epochMs())
        if (step.step !== 'answered') return
        const { plan, called } = step
        const { method, outcome, observed } = called
        const from = begun.get(token) ?? 0
        const body = 'body' in plan ? { ...plan.body } : null
        const heard: JournaledCall['heard'] =
          outcome.kind === 'reply'
            ? { kind: 'answer', status: outcome.status, body: outcome.body }
            : { kind: 'nothing', reached: outcome.reached }
        made.push({ userId: key, method, body, from, to: epochMs(), heard, shown: observed })
      },
    },
  }
}

export type Joined = {
  readonly calls: readonly JournaledCall[]
  /** Requests that reached the service without a call, or twice for one call. */
  readonly unaccounted: readonly Arrival[]
}

/** The date of an arrival is that of another clock reading, rounded to milliseconds. */
const CLOCK_SLACK_MS = 2

/** The calls about one user in the order in which they were begun, each with what the service did. */
export function joinCalls(made: readonly Made[], arrivals: readonly Arrival[]): Joined {
  const calls = made.toSorted((a, b) => a.from - b.from)
  const done = new Map<Made, boolean>()
  const unaccounted: Arrival[] = []
  for (const arrival of arrivals) {
    const same = calls.filter(
      (each) =>
        each.method === arrival.method &&
        JSON.stringify(each.body ?? undefined) === JSON.stringify(arrival.body) &&
        !done.has(each),
    )
    // The same update may be sent twice within that slack.
    const begunBy = (at: number) => same.findLast(({ from }) => from <= at)
    const call = begunBy(arrival.arrivedAt) ?? begunBy(arrival.arrivedAt + CLOCK_SLACK_MS)
    if (call) done.set(call, arrival.carriedOut)
    else unaccounted.push(arrival)
  }
  return { calls: calls.map((call) => ({ ...call, carriedOut: done.get(call) ?? null })), unaccounted }
}

/** One line for each call, to find the cause of a failure. */
export function tell(calls: readonly JournaledCall[]): string {
  const start = calls[0]?.from ?? 0
  return calls
    .map(({ method, body, from, to, heard, shown, carriedOut }, at) => {
      const word = heard.kind === 'answer' ? `${heard.status} ${heard.body}` : `nothing (${heard.reached})`
      const did = carriedOut === null ? '' : carriedOut ? ' [carried out]' : ' [not carried out]'
      const time = `${Math.round(from - start)}-${Math.round(to - start)}`
      const seen = shown ? ` ${JSON.stringify({ status: shown.status, ...shown.fields })}` : ''
      return `${at} ${time} ${method} ${body ? JSON.stringify(body) : ''} -> ${word}${did}${seen}`
    })
    .join('\n')
}

function epochMs(): number {
  return performance.timeOrigin + performance.now()
}
