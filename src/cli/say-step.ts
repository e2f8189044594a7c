import { type Mapped, validUntilOf } from '../model/mapped.ts'
import { OPTIONAL_FIELDS } from '../model/user.ts'
import { CallError, type CallErrorKind } from '../service/errors.ts'
import type { Called } from '../sync/call.ts'
import type { SyncStep } from '../sync/context.ts'
import type { Plan } from '../sync/plan.ts'
import type { TurnEnd } from '../sync/turn.ts'
import { labelled } from './render.ts'

/** The steps of a sync as lines for a person: names of fields, statuses and times, never a field's value. */
export function sayStep(step: SyncStep): string[] {
  switch (step.step) {
    case 'mapped':
      return sayMapped(step.mapped)
    case 'planned':
      return [labelled('plan', sayPlan(step.plan))]
    case 'answered':
      return [labelled('call', sayCalled(step.called)), labelled('answer', step.meaning)]
    case 'ended':
      return [labelled('result', sayEnd(step.end))]
    default:
      return step satisfies never
  }
}

export function sayMapped(mapped: Mapped): string[] {
  const row = labelled(
    'row',
    mapped.kind === 'removed' ? 'not found: the customer counts as removed' : 'found',
  )
  switch (mapped.kind) {
    case 'removed':
      return [row, labelled('user', mapped.userId)]
    case 'out-of-scope':
      return [
        row,
        labelled('user', mapped.userId),
        labelled('in scope', 'no: the customer counts as removed'),
        ...sayHolding(mapped),
      ]
    case 'rejected':
      return [
        row,
        labelled('mapped', 'no: it cannot be sent as it is'),
        ...sayIssues(mapped),
        ...sayHolding(mapped),
      ]
    case 'user': {
      const { userId, status, fields } = mapped.user
      const given = OPTIONAL_FIELDS.filter((field) => fields[field] !== undefined && fields[field] !== null)
      const empty = OPTIONAL_FIELDS.filter((field) => fields[field] === null)
      return [
        row,
        labelled('in scope', 'yes'),
        labelled(
          'mapped',
          `user ${userId}, status ${status}, with ${given.join(', ') || 'no further field'}`,
        ),
        ...(empty.length > 0 ? [labelled('empty', empty.join(', '))] : []),
        ...sayIssues(mapped),
        ...sayHolding(mapped),
      ]
    }
    default:
      return mapped satisfies never
  }
}

function sayIssues({ issues }: Extract<Mapped, { issues: unknown }>): string[] {
  return issues.map(({ field, code, expected }) =>
    labelled('left out', `${field} (${code}): expected ${expected}`),
  )
}

/** When the mapping is asked again though nothing has changed. */
function sayHolding(mapped: Mapped): string[] {
  const ms = validUntilOf(mapped)
  return ms === null ? [] : [labelled('holds', `until ${new Date(ms).toISOString().replace('.000Z', 'Z')}`)]
}

export function sayPlan(plan: Plan): string {
  switch (plan.kind) {
    case 'none':
      return NONE[plan.why]
    case 'lookup':
      return LOOKUP[plan.why]
    case 'create':
      return `create (POST) with ${Object.keys(plan.body).join(', ')}`
    case 'replace':
      return `replace (PUT) with ${Object.keys(plan.body).join(', ')}`
    case 'patch':
      return `update (PATCH) with ${Object.keys(plan.body).join(', ')}`
    case 'revoke':
      return 'revoke access (PATCH with status 0)'
    case 'erase':
      return `erase (PATCH with status 0) ${plan.fields.join(', ')}`
    case 'reject':
      return plan.code === 'shared-user-id'
        ? `reject: other customers are the same user: ${plan.keys.join(', ')}`
        : 'reject'
    default:
      return plan satisfies never
  }
}

const LOOKUP: Readonly<Record<Extract<Plan, { kind: 'lookup' }>['why'], string>> = {
  unknown: 'look first (GET): the state at the service is not known',
  unasked: 'look first (GET): somebody else may have registered the user',
  trial: 'look first (GET): a trial may have ended',
  erased: 'look (GET): whether the erased fields are empty',
}

const NONE: Readonly<Record<Extract<Plan, { kind: 'none' }>['why'], string>> = {
  right: 'nothing to send: the service has it already',
  'no-access-left': 'nothing to send: there is no access to revoke',
  erased: 'nothing to send: access is revoked, and the personal fields were cleared; see rollcall erasures',
  'never-ours': 'nothing to send: the customer was never in scope',
  ignored: 'nothing to send: onRemove is "ignore"',
  'user-of-another-customer': 'nothing to send: another customer in scope is this user',
  'without-access': 'nothing to send: status 0, and createWithoutAccess is false',
}

function sayCalled({ method, outcome, durationMs }: Called): string {
  const answer = outcome.kind === 'reply' ? `${outcome.status}` : `no answer (${outcome.error})`
  return `${method} → ${answer} in ${Math.round(durationMs)} ms`
}

function sayEnd(end: TurnEnd): string {
  const reason = end.reason
    ? ` (${[end.reason.code, end.reason.status, end.reason.error, ...(end.reason.misfits ?? [])].filter(Boolean).join(' ')})`
    : ''
  switch (end.kind) {
    case 'settle':
      return saySettled(end.state, reason)
    case 'retry':
      return `not now${reason}: it will be tried again`
    case 'unknown':
      return `unknown${reason}: it will be looked up after the call's lifetime`
    default:
      return end satisfies never
  }
}

function saySettled(state: Extract<TurnEnd, { kind: 'settle' }>['state'], reason: string): string {
  switch (state) {
    case 'idle':
      return 'settled'
    case 'rejected':
      return `rejected${reason}: it waits until the row or the mapping changes`
    case 'held':
      return 'held: one of a mass; it waits for a person (`rollcall held`)'
    case 'discarded':
      return 'left as it is: a person has discarded the difference, until the row changes'
    default:
      return state satisfies never
  }
}

/** In the middle of a line, and without the code that Node has for it. */
export function sayCallError(kind: CallErrorKind): string {
  const { message } = new CallError(kind, 'no')
  return `${message.charAt(0).toLowerCase()}${message.slice(1)}`
}
