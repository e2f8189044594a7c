import type { HeldKind } from '../brake/brake.ts'
import type { DecisionOutcome } from '../brake/held.ts'
import { brakeNeedsPerson, type HeldCustomer, type KindHeld } from '../brake/list.ts'
import type { LoggedDecision } from '../brake/log.ts'
import type { CaptureMark } from '../capture/marks.ts'
import { entitled, STATUSES } from '../model/user.ts'
import { counted, minute } from '../report/figures.ts'
import { columns, few, hanging, shown, span, wrapped } from './render.ts'

/** What would happen to them. */
function sayKind(kind: string): string {
  switch (kind) {
    case 'revocation':
      return 'they would lose access'
    case 'status':
      return 'their status would change to another with access'
    case 'create':
      return 'they would be registered'
    case 'absence':
      return 'the service knew them and knows them no more: is it the right service?'
    case 'erase':
      return 'their personal fields would be erased'
    case 'repair':
      return 'they differ at the service, and would be put right: is it the right service?'
    case 'truncated':
      return 'they would lose access, after a watched table was truncated'
    default:
      return kind.startsWith('clear:')
        ? `their ${kind.slice('clear:'.length)} would be cleared`
        : 'this version does not know what that is'
  }
}

/** By kind, for those where a person is needed or somebody was discarded. */
export function sayHeldKinds(kinds: readonly KindHeld[]): string[] {
  const told = kinds.filter(
    (kind) => brakeNeedsPerson(kind) || kind.released > 0 || kind.discarded > 0 || kind.expected > 0,
  )
  if (told.length === 0) return ['nobody is held']
  return told.flatMap((kind) => [...sayHeldKind(kind), ''])
}

function sayHeldKind({ kind, held, released, discarded, ...state }: KindHeld): string[] {
  const { sinceMs, trippedMs, limit, taken, expected, expectedUntil } = state
  return [
    `${kind}: ${counted(held, 'customer')} held`,
    ...(held > 0 ? wrapped('what', sayKind(kind)) : []),
    ...(sinceMs === null ? [] : wrapped('since', `${span(sinceMs)} ago (the oldest)`)),
    ...(trippedMs === null
      ? []
      : wrapped(
          'tripped',
          `${span(trippedMs)} ago at the limit of ${limit ?? 0}, ${taken} let through before; each further change of the kind waits`,
        )),
    ...(released > 0 ? wrapped('released', `${counted(released, 'customer')}, on their way`) : []),
    ...(discarded > 0
      ? wrapped('discarded', `${counted(discarded, 'customer')}, left as they are until they change`)
      : []),
    ...(expected > 0
      ? wrapped(
          'announced',
          `${counted(expected, 'customer')} more, who pass until ${expectedUntil} without being counted`,
        )
      : []),
    ...(held === 0 && trippedMs !== null ? wrapped('to do', letsThrough(kind)) : []),
    ...(kind === 'truncated' ? wrapped('to do', '`rollcall capture resync` looks at everybody again') : []),
  ]
}

/** What is left to do where a kind has tripped and everybody has come back by itself. */
export function letsThrough(kind: HeldKind): string {
  return `\`rollcall held discard --kind ${kind} --why …\` lets changes through again`
}

export const HOW = [
  '`rollcall held release --kind KIND --why "..."` lets them through, and',
  '`rollcall held discard --kind KIND --why "..."` leaves the service as it is',
]

export function sayHeldList({
  customers,
  total,
}: {
  readonly customers: readonly HeldCustomer[]
  readonly total: number
}): string[] {
  if (total === 0) return ['nobody is held']
  const rows = customers.map((each) => [
    each.key,
    each.released ? 'released' : each.state,
    each.sinceMs === null ? '' : span(each.sinceMs),
    sayStatus(each),
    few(each.kinds),
    few(each.what.fields),
  ])
  const left = total - customers.length
  return [
    ...columns([['CUSTOMER', 'STATE', 'FOR', 'STATUS', 'KINDS', 'FIELDS'], ...rows]),
    ...(left > 0 ? [`and ${left} more; --limit ${total} shows all of them`] : []),
  ]
}

function sayStatus({ kinds, what: { statusFrom, statusTo } }: HeldCustomer): string {
  if (statusFrom === null) return statusTo === null ? '' : `to ${statusTo}`
  if (statusTo === null && kinds.includes('status')) return `${statusFrom} to ${others(statusFrom)}`
  return statusTo === null || statusTo === statusFrom ? String(statusFrom) : `${statusFrom} to ${statusTo}`
}

/** The ledger has a digest of what is desired; but a loss of access is a kind of its own, which leaves few. */
function others(from: number): string {
  return STATUSES.some((status) => status === from)
    ? STATUSES.filter((status) => entitled(status) && status !== from).join('/')
    : '?'
}

type HeldWords = {
  readonly action: 'release' | 'discard'
  readonly outcome: DecisionOutcome
  /** Named, known, and neither held nor, for a release, discarded. */
  readonly notHeld: readonly string[]
  /** Marks of a TRUNCATE that are open still. */
  readonly marks?: readonly CaptureMark[]
}

export function sayOutcome({ action, outcome, notHeld, marks = [] }: HeldWords): string[] {
  const { customers, left, untripped } = outcome
  const [is, are] = action === 'release' ? RELEASED : DISCARDED
  return [
    customers === 0 ? NOTHING[action] : `${counted(customers, 'customer')} ${customers === 1 ? is : are}`,
    ...notHeld.flatMap((key) => `customer ${shown(key)} is not held`),
    ...untripped.map((kind) => `${kind}: changes are let through again, and counted from 0`),
    ...(left > 0
      ? [`${counted(left, 'customer')} held still, or anew: see \`rollcall held\`, and call it again`]
      : []),
    ...marks.flatMap(({ relation }) =>
      hanging(
        '',
        `the mark of the TRUNCATE of ${relation} still stands; \`rollcall capture resync --dismiss\` closes it`,
      ),
    ),
  ]
}

const RELEASED = [
  'is released, and sent as the pace allows',
  'are released, and sent as the pace allows',
] as const
const DISCARDED = ['is left as it is until it changes', 'are left as they are until they change'] as const
const NOTHING = { release: 'there is nobody to release', discard: 'there is nobody to discard' }

export function sayDecisions(decisions: readonly LoggedDecision[]): string[] {
  if (decisions.length === 0) return ['nothing was decided yet']
  return decisions.flatMap(({ at, action, kind, customers, by, why, open }) => [
    `${minute(at)}: ${action}, ${kind ?? 'by key'}, ${counted(customers, 'customer')}`,
    ...wrapped('by', by),
    ...wrapped('why', why),
    ...(open > 0 ? wrapped('open', `${counted(open, 'customer')} not sent yet`) : []),
  ])
}
