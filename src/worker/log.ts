// The lines of a worker's log about calls, endings, the pace, checks and misfits. Customer keys stand under the
// names that the log can hide; field values are never logged.

import { type Checked, isDrift } from '../drift/words.ts'
import type { CallLog } from '../ledger/call-log.ts'
import type { CallEntry } from '../ledger/calls.ts'
import type { Claim } from '../ledger/claim.ts'
import type { CustomerKey } from '../model/customer.ts'
import type { Log } from '../ops/log.ts'
import type { PaceEvent } from '../pace/events.ts'
import { callEntry } from '../sync/call.ts'
import type { SyncStep } from '../sync/context.ts'
import { type ClaimEnd, JUST_WRITTEN } from '../sync/next-plan.ts'

type Said = readonly ['debug' | 'info' | 'warn' | 'error', string]

const PACE: Readonly<Record<PaceEvent['kind'], Said>> = {
  lowered: ['info', 'the service is busy: workers lower their rate'],
  held: ['warn', 'the service asked to wait (Retry-After): no worker calls it meanwhile'],
  asking: ['warn', 'several customers in a row got a refusal: a probe (test call) checks the keys'],
  settled: ['info', 'the service accepts the keys: calls continue'],
  refused: [
    'error',
    'the service refuses the keys: this worker makes only probes; correct SERVICE_API_KEY or SERVICE_SECRET_KEY',
  ],
  taken: ['info', 'the service accepts the keys again: calls continue'],
  opened: ['error', 'the service fails: workers make only probes until it answers'],
  probed: ['warn', 'a probe (test call) was made: see "health" for its result'],
  trying: ['info', 'the service answers again: calls continue, slowly at first'],
  closed: ['info', 'the service works as before'],
  unreported: ['warn', 'the outcomes of calls could not be stored'],
}

export function logPace(log: Log): (event: PaceEvent) => void {
  return ({ kind, ...about }) => {
    const [level, words] = PACE[kind]
    log[level](about, words)
  }
}

type EndName = Exclude<ClaimEnd['kind'], 'settle'> | Extract<ClaimEnd, { readonly kind: 'settle' }>['state']

const ENDINGS: Readonly<Record<EndName, Said>> = {
  idle: ['debug', 'settled'],
  rejected: ['warn', 'rejected: the customer waits until its row or the mapping changes'],
  held: ['debug', 'held by the brake: see `rollcall held`'],
  discarded: ['debug', 'a person has discarded the change: nothing is sent'],
  unknown: ['warn', 'the outcome of a write is unknown: a GET looks up the user later'],
  retry: ['info', 'the customer is not synced yet: a worker will retry; `rollcall explain` says why'],
}
/** Reasons with words of their own. */
const BY_REASON: Readonly<Record<string, Said>> = {
  [JUST_WRITTEN]: [
    'info',
    'the service may not show the last write yet: the customer is synced a little later',
  ],
  'shared-user-id': [
    'warn',
    'rejected: the customer waits until one of the rows with this user_id, or the mapping, changes',
  ],
}

export function logStep(log: Log) {
  return (customer: CustomerKey, step: SyncStep, claim: Claim): void => {
    const about = { customer, attempt: claim.attempts + 1 }
    if (step.step === 'answered')
      log.info({ ...about, ...wordsOf(callEntry({ key: customer, ...step })) }, 'call')
    else if (step.step === 'ended') {
      const { end } = step
      const [level, words] =
        BY_REASON[end.reason?.code ?? ''] ?? ENDINGS[end.kind === 'settle' ? end.state : end.kind]
      log[level]({ ...about, ...end.reason }, words)
    }
  }
}

function wordsOf({ plan, method, status, error, meaning, ms }: CallEntry) {
  const answer = status === null ? { error } : { status }
  return { plan, method, ...answer, meaning, ms: Math.round(ms) }
}

/** By a check, or by the end of a sync. */
export const FINDING_CLOSED = 'a finding is closed'

/** Findings that were reported are not reported again by this process: so many are remembered. */
const REMEMBERED = 10_000

export function logChecks(log: Log) {
  const reported = new Set<string>()

  return {
    call: (entry: CallEntry) => log.debug({ customer: entry.key, ...wordsOf(entry) }, 'call'),
    checked({ key: customer, verdict, findingId: finding, ...check }: Checked): void {
      const { findingState, resolved, repairing } = check
      const about = { customer, finding }
      if (resolved !== null) {
        log.info({ ...about, how: resolved }, FINDING_CLOSED)
        return
      }
      if (!isDrift(verdict)) return
      const { kind, access, fields, cause } = verdict
      const what = { ...about, kind, access, fields, cause, repairing }
      if (findingState === 'found' && finding !== null && !reported.has(finding)) {
        if (reported.size >= REMEMBERED) reported.clear()
        reported.add(finding)
        log.warn(what, kind === 'trial-ended' ? 'a trial has ended' : 'the service differs from the database')
      } else log.debug(what, 'the service seems to differ from the database')
    },
  }
}

export function logCalls(log: Pick<CallLog, 'add'>) {
  return (key: CustomerKey, step: SyncStep): void => {
    if (step.step === 'answered') log.add(callEntry({ key, ...step }))
  }
}

export const MISFIT = 'the configuration does not fit the database: correct one of them'
/** Housekeeping tells the same every minute as long as it lasts. */
export const TELL_AGAIN_MS = 60_000

/** Whether it is time to report the same again: at first, and once it was not reported for so long. */
export function makeReminder(everyMs: number, now: () => number): (what: string) => boolean {
  const reported = new Map<string, number>()
  return (what) => {
    if (now() - (reported.get(what) ?? Number.NEGATIVE_INFINITY) < everyMs) return false
    reported.set(what, now())
    return true
  }
}

/** Tells at once why customers cannot be read, and the same again after a minute at the earliest. */
export function tellMisfits(log: Pick<Log, 'error'>, now: () => number) {
  const isTime = makeReminder(TELL_AGAIN_MS, now)
  return (misfits: readonly string[]): void => {
    for (const problem of misfits.filter(isTime)) log.error({ problem }, MISFIT)
  }
}
