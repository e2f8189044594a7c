// What can be said for sure of the requests that a run made, although its processes were killed and suspended: by what
// arrived at the service, and by who held a claim at that time.
import { OPTIONAL_FIELDS } from '../../src/model/user.ts'
import { twoLive } from '../support/claim-log.ts'
import { LIFETIME_MS, TIMEOUT_MS } from './ground.ts'
import { type Claimed, claimChanges, claimsOf, type Work } from './log.ts'
import type { Suspension } from './processes.ts'
import type { Arrival } from './service.ts'

export type Finding = { readonly key: string | null; readonly what: string }

export type Evidence = {
  readonly log: readonly Work[]
  readonly arrivals: readonly Arrival[]
  readonly suspensions: readonly Suspension[]
  /** How late our own clock readings may be at that time. */
  readonly slackMs: (at: number) => number
  /** Everything had come to rest; nothing has changed since. */
  readonly restAt: number
}

export type Judgement = { readonly findings: readonly Finding[]; readonly late: readonly Arrival[] }

export function judge(evidence: Evidence): Judgement {
  const claims = Map.groupBy(claimsOf(evidence.log), ({ key }) => key)
  const byUser = Map.groupBy(evidence.arrivals, ({ userId }) => userId)
  const keyOf = new Map(evidence.log.map(({ id, key }) => [id, key]))
  const { late, allowed } = lateOnWaking(evidence, claims)
  const findings = [
    ...twoLive(claimChanges(evidence.log)).map(({ id, what }) => ({ key: keyOf.get(id) ?? id, what })),
    ...[...byUser].flatMap(([userId, arrivals]) =>
      judgeUser(arrivals, claims.get(userId) ?? [], evidence).map((what) => ({ key: userId, what })),
    ),
    ...late.slice(allowed).map(({ userId, number }) => ({
      key: userId,
      what: `request ${number}: late after a suspension, one of ${late.length}`,
    })),
  ]
  return { findings, late }
}

/** Customers and users have the same key here. */
function judgeUser(arrivals: readonly Arrival[], claims: readonly Claimed[], evidence: Evidence): string[] {
  const writes = arrivals.filter(({ method }) => method !== 'GET')
  return [
    ...writes.flatMap((write) => withoutStatus(write)),
    ...writes.flatMap((write) => afterRest(write, evidence)),
    ...writes.flatMap((write) => outsideOfClaims(write, claims, evidence)),
    ...writes.flatMap((write, at) => overlapping(write, writes[at + 1], evidence)),
    ...repeated(arrivals, claims),
  ]
}

function withoutStatus({ number, method, raw }: Arrival): string[] {
  const body = parsed(raw)
  return body !== null && 'status' in body ? [] : [`request ${number}: a ${method} without status`]
}

/** Verifications look again for minutes, but what is right is not written again. */
function afterRest({ number, method, arrivedAt }: Arrival, { restAt }: Evidence): string[] {
  return arrivedAt > restAt ? [`request ${number}: a ${method} after everything had come to rest`] : []
}

/** Nobody writes but under a live claim; lateness after a suspension is judged apart. */
function outsideOfClaims(
  write: Arrival,
  claims: readonly Claimed[],
  { slackMs, suspensions }: Evidence,
): string[] {
  const slack = slackMs(write.arrivedAt)
  const so = latenessOf(write, claims, slack)
  if (so === null) return []
  const { number, method } = write
  if (so === 'unclaimed') return [`request ${number}: a ${method} that nobody had claimed`]
  if (wasWoken(write, suspensions, slack)) return []
  return [`request ${number}: a ${method} ${so} ms after the end of its claim`]
}

/**
 * Milliseconds after the latest moment at which some claim would allow it; null: it is in time. A request of a claim that
 * gave it up as unknown may still be on its way, or in the hands of a service that is slow to take it: the lifetime is
 * the bound that rollcall counts on.
 */
function latenessOf(
  { arrivedAt }: Arrival,
  claims: readonly Claimed[],
  slack: number,
): number | 'unclaimed' | null {
  const begun = claims.filter(({ from }) => from <= arrivedAt + slack)
  if (begun.length === 0) return 'unclaimed'
  const ends = begun.map(({ from, endedAt, left }) =>
    Math.min(from + LIFETIME_MS, endedAt === null || left?.unknown ? Number.POSITIVE_INFINITY : endedAt),
  )
  const late = Math.round(arrivedAt - Math.max(...ends))
  return late > slack ? late : null
}

const SENT_AT_ONCE_MS = 100

function wasWoken({ arrivedAt }: Arrival, suspensions: readonly Suspension[], slack: number): boolean {
  return suspensions.some(({ from, to }) => from <= arrivedAt && arrivedAt <= to + SENT_AT_ONCE_MS + slack)
}

/**
 * A process that is suspended between its last look at the clock and the sending, a thousandth of a second apart, is late:
 * no process can help that, and the verifications are for it. That it happens once may be; often, it is no accident.
 */
function lateOnWaking(
  { arrivals, slackMs, suspensions }: Evidence,
  claims: ReadonlyMap<string, readonly Claimed[]>,
) {
  const late = arrivals.filter((arrival) => {
    if (arrival.method === 'GET') return false
    const slack = slackMs(arrival.arrivedAt)
    const so = latenessOf(arrival, claims.get(arrival.userId) ?? [], slack)
    return typeof so === 'number' && wasWoken(arrival, suspensions, slack)
  })
  const allowed = 1 + Math.floor(suspensions.length / SUSPENSIONS_FOR_ANOTHER)
  return { late, allowed }
}

const SUSPENSIONS_FOR_ANOTHER = 50

/** As long as the service had not answered the first and its caller could not have given up, nobody may send another. */
function overlapping(write: Arrival, next: Arrival | undefined, { slackMs }: Evidence): string[] {
  if (!next || !write.plain || write.answeredAt === null) return []
  const end = Math.min(write.answeredAt, write.arrivedAt + TIMEOUT_MS) - slackMs(next.arrivedAt)
  if (next.arrivedAt >= end) return []
  return [`request ${next.number}: a ${next.method} while request ${write.number} was not answered yet`]
}

/**
 * A write of what the write before it carried, when that was answered plainly, its claim ended by itself, and nobody has
 * looked or doubted since. A PATCH repeats the status, and a phone's two fields go together; a PUT is complete.
 */
function repeated(arrivals: readonly Arrival[], claims: readonly Claimed[]): string[] {
  return arrivals.flatMap((write, at) => {
    const before = arrivals[at - 1]
    if (!before || write.method === 'GET' || before.method === 'GET') return []
    if (!before.plain || !before.carriedOut || !isSuccess(before.status)) return []
    const first = claimAt(claims, before.arrivedAt)
    const second = claimAt(claims, write.arrivedAt)
    if (!first?.left || !second || first.token === second.token) return []
    if (isDoubtful(first.left) || isDoubtful(second.row)) return []
    if (first.left.suspectVersion !== second.row.suspectVersion) return []
    const { fields, again } = carriedAgain(write, before)
    const needless = write.method === 'PATCH' ? again.filter((field) => !NOT_ALONE.has(field)) : []
    if (again.length < fields.length && needless.length === 0) return []
    const what = again.length === fields.length ? 'nothing new' : needless.join(', ')
    return [`request ${write.number}: a ${write.method} with ${what} after request ${before.number}`]
  })
}

const NOT_ALONE = new Set(['status', 'mobile_phone', 'mobile_phone_prefix'])

function isDoubtful({ unknown, blind, statusDoubted }: Work['after']): boolean {
  return unknown || blind || statusDoubted
}

function isSuccess(status: number | null): boolean {
  return status === null || (status >= 200 && status < 300)
}

function claimAt(claims: readonly Claimed[], at: number): Claimed | undefined {
  return claims.findLast(({ from, endedAt }) => from <= at && at <= (endedAt ?? Number.POSITIVE_INFINITY))
}

/** What it carries, and which of that the write before it had carried too. What a create leaves out may be refused. */
function carriedAgain(write: Arrival, before: Arrival) {
  const [now, then] = [parsed(write.raw) ?? {}, parsed(before.raw) ?? {}]
  const fields = write.method === 'PATCH' ? Object.keys(now) : ['status', ...OPTIONAL_FIELDS]
  const isAgain = (field: string) => Object.hasOwn(then, field) && bare(now[field]) === bare(then[field])
  return { fields, again: fields.filter(isAgain) }
}

/** Null, an empty text and nothing at all are alike. */
function bare(value: unknown): unknown {
  return value === undefined || value === '' ? null : value
}

function parsed(raw: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(raw)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}
