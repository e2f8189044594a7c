// The steps of a sync for a person: names of fields, statuses and times, never a field's value.
import type { RedactedMapped, RedactedPlan, RedactedStep } from '../explain/redact.ts'
import type { Reason } from '../ledger/record.ts'
import { CALL_ERROR_KINDS, CallError, type CallErrorKind } from '../service/errors.ts'
import { JUST_WRITTEN, type TurnEnd } from '../sync/turn.ts'
import { byKind, details, span } from './render.ts'

export function renderStep(step: RedactedStep): string[] {
  switch (step.step) {
    case 'mapped':
      return renderMapped(step)
    case 'planned':
      return details([['plan', renderPlan(step.plan)]])
    case 'answered': {
      const { method, outcome, ms, meaning } = step
      const answer = outcome.kind === 'reply' ? `${outcome.status}` : `no answer (${outcome.error})`
      return details([
        ['call', `${method} → ${answer} in ${ms} ms`],
        ['answer', meaning],
      ])
    }
    case 'ended':
      return details([[step.end.reason?.code === JUST_WRITTEN ? 'note' : 'result', renderEnd(step.end)]])
    default:
      return step satisfies never
  }
}

export function renderMapped({ kind, userId, status, set, ...mapped }: RedactedMapped): string[] {
  const { issues, empty, validUntil } = mapped
  return details([
    ['row', kind === 'removed' ? 'not found: the customer counts as removed' : 'found'],
    ['user', (kind === 'removed' || kind === 'out-of-scope') && (userId ?? 'none')],
    ['in scope', kind === 'user' ? 'yes' : kind === 'out-of-scope' && 'no: the customer counts as removed'],
    ['mapped', kind === 'rejected' && 'no: it cannot be sent as it is'],
    [
      'mapped',
      kind === 'user' && `user ${userId}, status ${status}, with ${set.join(', ') || 'no further field'}`,
    ],
    ['empty', empty.join(', ')],
    ...issues.map(
      ({ field, code, expected }) =>
        [kind === 'rejected' ? 'problem' : 'left out', `${field} (${code}): expected ${expected}`] as const,
    ),
    // The mapping is asked again then, though nothing has changed.
    ['valid', validUntil && `until ${validUntil.replace('.000Z', 'Z')}, then mapped again`],
  ])
}

export function renderPlan(plan: RedactedPlan): string {
  return byKind(plan, {
    none: ({ why }) => `nothing to send: ${NOTHING_TO_SEND[why]}`,
    lookup: ({ why }) => LOOKUP[why],
    create: ({ sends }) => `create (POST) with ${sends.join(', ')}`,
    replace: ({ sends }) => `replace (PUT) with ${sends.join(', ')}`,
    patch: ({ sends }) => `update (PATCH) with ${sends.join(', ')}`,
    revoke: () => 'revoke access (PATCH with status 0)',
    erase: ({ fields }) => `erase (PATCH with status 0) ${fields.join(', ')}`,
    reject: (plan) =>
      plan.code === 'shared-user-id'
        ? `reject: other customers have the same user_id: ${plan.keys.join(', ')}`
        : 'reject',
  })
}

const LOOKUP: Readonly<Record<Extract<RedactedPlan, { kind: 'lookup' }>['why'], string>> = {
  unknown: 'lookup (GET) first, to learn the state at the service',
  unasked: 'lookup (GET) first: another system may have registered the user',
  trial: 'lookup (GET) first: a trial may have ended',
  erased: 'lookup (GET): verify that the erased fields are empty',
}

export const NOTHING_TO_SEND: Readonly<Record<Extract<RedactedPlan, { kind: 'none' }>['why'], string>> = {
  right: 'the user is up to date already',
  'no-access-left': 'there is no access to revoke',
  erased: 'access is revoked, and the personal fields were cleared; see `rollcall erasures`',
  'never-ours': 'the customer was never in scope',
  ignored: 'onRemove is "ignore"',
  'user-of-another-customer': 'another customer in scope has the same user_id',
  'without-access': 'status 0, and createWithoutAccess is false',
}

const SETTLED = {
  idle: 'settled',
  held: 'held by the brake: see `rollcall held`',
  discarded: 'a person has discarded the change: nothing is sent until the row changes',
} as const

function renderEnd(end: TurnEnd): string {
  const { code, status, error, misfits = [] } = end.reason ?? {}
  const answer = status || error ? [answerOf(end.reason ?? {})] : []
  const reason = code ? ` (${[code, ...answer, ...misfits].join(': ')})` : ''
  return byKind(end, {
    settle: ({ state }) =>
      state === 'rejected'
        ? `rejected${reason}: it waits until the row or the mapping changes`
        : SETTLED[state],
    retry: ({ waitMs }) =>
      code === JUST_WRITTEN
        ? `waits ${span(waitMs ?? 0)} for the service to show the last write, then syncs again`
        : `not synced yet${reason}: rollcall will retry`,
    unknown: () =>
      `unknown outcome${reason}: rollcall will look up the user, once the call can no longer arrive`,
  })
}

export function answerOf({ status, error }: Pick<Reason, 'status' | 'error'>): string {
  if (status !== undefined) return `HTTP ${status}`
  const kind = CALL_ERROR_KINDS.find((known) => known === error)
  return kind ? renderCallError(kind) : (error ?? 'no answer')
}

/** In the middle of a line, and without the code that Node has for it. */
export function renderCallError(kind: CallErrorKind): string {
  const { message } = new CallError(kind, 'no')
  return `${message.charAt(0).toLowerCase()}${message.slice(1)}`
}
