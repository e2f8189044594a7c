import type { PaceReport } from '../pace/read.ts'
import { lines } from './say-status.ts'
import { span } from './say-time.ts'

/** The pace as lines for a person: how fast, how fast at most and who said so, and what stops it. */
export function sayPace(pace: PaceReport | null): string[] {
  if (!pace) return lines('pace', 'not set yet: the first worker sets what its configuration asks for')
  return [
    ...lines('rate', sayRate(pace)),
    ...lines('ceiling', sayCeiling(pace)),
    ...lines('calls', sayCalls(pace)),
    ...sayMore(pace),
  ]
}

/** After the end of a hold, which is everybody's: whoever was answered so has a wait besides. */
export function sayWaiting(customers: number): string[] {
  if (customers === 0) return []
  const who = customers === 1 ? '1 customer waits' : `${customers} customers wait`
  return lines(
    'waiting',
    `${who} for a later attempt, as after any 429; \`rollcall failures --retry --reason later\` tries them now`,
  )
}

function sayRate({ rate, ceiling, heldForMs }: PaceReport): string {
  if (heldForMs > 0) return `0 calls/s for ${span(heldForMs)}, as the service asked for; then ${figure(rate)}`
  return rate < ceiling ? `${figure(rate)} calls/s, rising while calls are made` : `${figure(rate)} calls/s`
}

function sayCeiling({ ceiling, configured }: PaceReport): string {
  const most = `${figure(ceiling)} calls/s`
  if (configured === null) return `${most}, until the first worker sets what its configuration asks for`
  if (configured === ceiling) return `${most}, as configured`
  return `${most}, set by hand (configured: ${figure(configured)})`
}

function sayCalls({ breaker, cause, failedProbes, heldForMs }: PaceReport): string {
  if (breaker !== 'open' && heldForMs > 0)
    return `stopped: the service asked to be left alone (\`rollcall pace --resume\` ends it)`
  if (breaker === 'open')
    return cause === 'credentials'
      ? 'stopped: the service refuses our credentials'
      : `stopped: the service is out (probes that failed: ${failedProbes})`
  if (cause !== null) return 'stopped for a moment, to ask whether the service refuses our credentials'
  return breaker === 'trying' ? 'made again, slowly at first' : 'are made'
}

function sayMore({ breaker, cause, openedAt, nextProbeMs }: PaceReport): string[] {
  if (breaker !== 'open') return []
  return [
    ...(openedAt === null ? [] : lines('since', openedAt)),
    ...lines('next probe', sayNext(nextProbeMs ?? 0)),
    ...lines(
      'to do',
      cause === 'credentials'
        ? 'correct SERVICE_SECRET_KEY or SERVICE_API_KEY and restart, or have them accepted'
        : 'nothing: a worker goes on by itself as soon as the service answers',
    ),
  ]
}

function sayNext(ms: number): string {
  return ms === 0 ? 'now, if a worker runs' : `in ${span(ms)}, if a worker runs`
}

/** With at most two digits after the point. */
function figure(callsPerSecond: number): string {
  return callsPerSecond < 0.01 ? 'less than 0.01' : String(Math.round(callsPerSecond * 100) / 100)
}
