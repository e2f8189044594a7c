// The steps of a sync for a person: names of fields, statuses and times, never a field's value.
import type { RedactedMapped, RedactedPlan, RedactedStep } from '../explain/redact.ts'
import type { CustomerState } from '../ledger/record.ts'
import { type ClaimEnd, JUST_WRITTEN } from '../sync/next-plan.ts'
import { byKind, details, second, span } from './render.ts'
import { renderReason } from './render-reason.ts'

export function renderStep(step: RedactedStep): string[] {
  switch (step.step) {
    case 'mapped':
      return renderMapped(step)
    case 'planned':
      return details({ plan: renderPlan(step.plan) })
    case 'answered': {
      const { method, outcome, ms, meaning } = step
      const failed = (error: string) => (error === 'refused' ? 'no connection' : `no answer (${error})`)
      const answer = outcome.kind === 'reply' ? `${outcome.status}` : failed(outcome.error)
      return details({
        call: `${method} → ${answer} ${outcome.kind === 'reply' ? 'in' : 'after'} ${ms} ms`,
        answer: ANSWER[meaning],
      })
    }
    case 'ended':
      return details({
        [step.end.reason?.code === JUST_WRITTEN ? 'note' : 'result']: renderEnd(step.end),
        'to do': toDoAfter(step.end),
      })
    default:
      return step satisfies never
  }
}

const ANSWER: Readonly<Record<Extract<RedactedStep, { step: 'answered' }>['meaning'], string>> = {
  done: 'the service acknowledges the write',
  unclear: 'the answer does not show whether the write was carried out',
  refused: 'the service refuses the write',
  denied: 'the service refuses the credentials, or this user',
  absent: 'the service knows no such user',
  later: 'the service did not carry out the call, and asks rollcall to call later',
  'not-sent': 'nothing was sent',
  unknown: 'it is not known whether the write was carried out',
  present: 'the service has this user',
  failed: 'the lookup failed',
}

export function renderMapped({ kind, userId, status, set, ...mapped }: RedactedMapped): string[] {
  const { issues, empty, validUntil } = mapped
  return details({
    row: kind === 'removed' ? 'not found: the customer counts as removed' : 'found',
    user: (kind === 'removed' || kind === 'out-of-scope') && (userId ?? 'none'),
    'in scope': kind === 'user' ? 'yes' : kind === 'out-of-scope' && 'no',
    mapped: [
      kind === 'rejected' && 'no: the row cannot be sent as it is',
      kind === 'user' && `user ${userId}, status ${status}, with ${set.join(', ') || 'no further field'}`,
    ],
    empty: empty.join(', '),
    [kind === 'rejected' ? 'problem' : 'left out']: issues.map(
      ({ field, code, expected }) => `${field} (${code}): expected ${expected}`,
    ),
    // The mapping is asked again then, though nothing has changed.
    valid:
      validUntil &&
      `the mapped values stay valid until ${second(validUntil)} UTC; then a worker maps the row again`,
  })
}

export function renderPlan(plan: RedactedPlan): string {
  const first = 'statusFirst' in plan ? ' (two calls: first the status, then the other fields)' : ''
  return `${renderCall(plan)}${first}`
}

function renderCall(plan: RedactedPlan): string {
  return byKind(plan, {
    none: ({ why }) => (why === 'right' ? 'nothing to send' : `nothing to send (${NOTHING_TO_SEND[why]})`),
    lookup: ({ why }) => LOOKUP[why],
    create: ({ sends }) => `create (POST) with ${sends.join(', ')}`,
    replace: (plan) => `replace (PUT) ${renderUpdate(plan)}`,
    patch: (plan) => `update (PATCH) ${renderUpdate(plan)}`,
    revoke: () => 'revoke access (PATCH with status 0)',
    erase: ({ fields }) => `erase ${fields.join(', ')} (PATCH with status 0)`,
    reject: (plan) =>
      plan.code === 'shared-user-id'
        ? `reject: customer ${plan.keys.join(', customer ')} has the same user_id`
        : 'reject the customer',
  })
}

function renderUpdate({
  sends,
  status,
  keepsStatus,
}: Extract<RedactedPlan, { kind: 'replace' | 'patch' }>): string {
  return `with ${sends.join(', ')}${keepsStatus ? ` (the status stays ${status})` : ''}`
}

const LOOKUP: Readonly<Record<Extract<RedactedPlan, { kind: 'lookup' }>['why'], string>> = {
  unknown: 'lookup (GET) first, to learn the state at the service',
  unasked: 'lookup (GET) first, as another system may have registered the user',
  trial: 'lookup (GET) first, to see whether the trial has ended',
  erased: 'lookup (GET): verify that the erased fields are empty',
}

export const NOTHING_TO_SEND: Readonly<
  Record<Exclude<Extract<RedactedPlan, { kind: 'none' }>['why'], 'right'>, string>
> = {
  'no-access-left': 'as far as rollcall knows, there is no access to revoke',
  erased: 'access is revoked, and the personal fields were cleared; see `rollcall erasures`',
  'never-ours': 'the customer was never in scope',
  ignored: 'onRemove is "ignore"',
  'user-of-another-customer': 'another customer in scope has the same user_id',
  'without-access': 'status 0, and createWithoutAccess is false',
}

const SETTLED = {
  idle: 'settled',
  held: 'the brake holds the change: see `rollcall held`',
  discarded: 'a person has discarded the change, so it is not sent',
} as const

function renderEnd(end: ClaimEnd): string {
  const why = (state: CustomerState) => (end.reason ? renderReason(end.reason, { state }).what : '')
  return byKind(end, {
    settle: ({ state }) =>
      state === 'rejected'
        ? `rejected: ${why(state)}. The customer waits until ${end.reason?.code === 'shared-user-id' ? 'one of these rows' : 'its row'} or the mapping changes`
        : SETTLED[state],
    retry: ({ reason, waitMs }) =>
      reason.code === JUST_WRITTEN
        ? `waits ${span(waitMs ?? 0)} for the service to show the last write, then syncs again`
        : `not synced yet: ${why('failing')}`,
    unknown: () => why('failing'),
  })
}

/** The reason says it, as in `rollcall failures`: not every retry succeeds by itself. */
function toDoAfter({ kind, reason }: ClaimEnd): string | false {
  return kind !== 'settle' && reason !== null && reason.code !== JUST_WRITTEN && renderReason(reason).toDo
}
