import type { DecisionOutcome } from '../brake/held.ts'
import { brakeNeedsPerson, type HeldCustomer, type KindHeld, type LoggedDecision } from '../brake/list.ts'
import type { CaptureMark } from '../capture/marks.ts'
import { entitled, STATUSES } from '../model/user.ts'
import { counted, minute } from '../report/figures.ts'
import { applying, columns, details, few, hanging, more, shown, span } from './render.ts'

const KINDS: Readonly<Record<string, string>> = {
  revocation: 'they would lose access',
  status: 'their status would change to 2 (full access) or 4 (trial)',
  create: 'they would be registered',
  absence: 'the service no longer knows their users: check SERVICE_URL before you decide',
  erase: 'their personal fields would be erased',
  repair: 'their users differ and would be repaired: check SERVICE_URL before you decide',
  truncated: 'they would lose access, after a watched table was truncated',
}

const NONE = 'no customer is held'

/** By kind, where a person is needed or customers are on their way, discarded or expected. `all`: no kind was asked for. */
export function renderKinds(kinds: readonly KindHeld[], all: boolean): readonly string[] {
  const shown = kinds.filter(
    (kind) => brakeNeedsPerson(kind) || kind.released + kind.discarded + kind.expected > 0,
  )
  return shown.length === 0
    ? [NONE]
    : shown.flatMap((kind, index) => [...(index > 0 ? [''] : []), ...renderKind(kind, all)])
}

function renderKind(counts: KindHeld, all: boolean): string[] {
  const { kind, held, released, discarded, expected, ...state } = counts
  const { sinceMs, trippedMs, limit, expectedUntil } = state
  const [, cleared] = kind.split('clear:')
  const what = cleared ? `their ${cleared} would be cleared` : KINDS[kind]
  return [
    `${kind}: ${counted(held, 'customer')} held`,
    ...details({
      what: held > 0 && what,
      oldest: sinceMs !== null && `held for ${span(sinceMs)}`,
      tripped:
        trippedMs !== null &&
        `${span(trippedMs)} ago, at its limit of ${counted(limit ?? 0, 'customer')}; new changes of this kind will be held`,
      released: released > 0 && `${counted(released, 'customer')} with a change that is not sent yet`,
      discarded:
        discarded > 0 &&
        `${counted(discarded, 'customer')} with a change that a person has discarded${all ? `; see \`rollcall held --kind ${kind}\`` : ''}`,
      expected:
        expected > 0 &&
        `${counted(expected, 'pre-approved registration')} may still pass the brake, until ${minute(expectedUntil ?? '')}`,
      'to do': [
        held === 0 && trippedMs !== null && letsThrough(kind),
        kind === 'truncated' &&
          held > 0 &&
          'if the TRUNCATE was a mistake, restore the rows, then run `rollcall capture resync --dismiss`. If it was intended, run `rollcall capture resync`',
      ],
    }),
  ]
}

/** The remaining step for a kind that has tripped and holds no customer any more. */
export function letsThrough(kind: string): string {
  return `to reset the brake, run \`rollcall held discard --kind ${kind} --why …\`. If the brake holds changes when you run it, they are discarded`
}

export function renderHeld(
  { customers, total }: { customers: readonly HeldCustomer[]; total: number },
  keys: readonly string[] = [],
): readonly string[] {
  const others = keys.filter(
    (key) => total <= customers.length && !customers.some((each) => each.key === key),
  )
  const notHeld = others.map((key) => `customer ${shown(key)} is not held`)
  if (total === 0) return notHeld.length > 0 ? notHeld : [NONE]
  const rows = customers.map((each) => [
    each.key,
    each.released ? 'released' : each.state,
    each.sinceMs === null ? '' : span(each.sinceMs),
    renderUserStatus(each),
    renderChange(each),
  ])
  return [
    ...columns([['CUSTOMER', 'STATE', 'FOR', 'STATUS', 'KINDS (FIELDS)'], ...rows]),
    ...more(customers.length, total),
    ...notHeld,
  ]
}

/** A cleared field stands in its kind already. */
function renderChange({ kinds, what }: HeldCustomer): string {
  const others = what.fields.filter((field) => !kinds.some((kind) => kind === `clear:${field}`))
  return others.length === 0 ? kinds.join(', ') : `${kinds.join(', ')} (${few(others)})`
}

function renderUserStatus({ kinds, what: { statusFrom, statusTo } }: HeldCustomer): string {
  if (statusFrom === null) return statusTo === null ? '–' : `to ${statusTo}`
  if (statusTo === null && kinds.includes('status')) return `${statusFrom} to ${others(statusFrom)}`
  return statusTo === null || statusTo === statusFrom ? String(statusFrom) : `${statusFrom} to ${statusTo}`
}

/** The ledger has a digest of what is desired; but a loss of access is a kind of its own, which leaves few. */
function others(from: number): string {
  if (!STATUSES.some((status) => status === from)) return '?'
  return STATUSES.filter((status) => entitled(status) && status !== from).join('/')
}

const OUTCOMES = {
  release: ['released', 'Workers now sync each customer, unless it is also held for another kind.'],
  discard: [
    'discarded',
    'A discarded change is not sent. If the row or the mapping changes, the brake decides about the new change.',
  ],
} as const

const UNDECIDED =
  'a sync is due or under way, or the brake holds a newer change. See `rollcall held`, then decide again'

type Decided = DecisionOutcome & {
  /** Named, known, and neither held nor, for a release, discarded. */
  readonly notHeld: readonly string[]
}

export function renderOutcome(
  action: 'release' | 'discard',
  { customers, left, reset, notHeld }: Decided,
  truncations: readonly CaptureMark[],
): readonly string[] {
  const [done, effect] = OUTCOMES[action]
  return applying([
    customers === 0
      ? reset.length === 0 &&
        `nothing is ${done}${notHeld.length + left > 0 ? '' : ': no held customer matches'}`
      : `${done}: ${counted(customers, 'customer')}`,
    ...(customers > 0 ? hanging('', effect) : []),
    ...notHeld.map((key) => `customer ${shown(key)} is not held`),
    ...reset.map((kind) => `${kind}: the brake is reset; it counts changes from 0 again`),
    ...(left > 0
      ? hanging('', `${counted(left, 'customer is', 'customers are')} still undecided: ${UNDECIDED}`)
      : []),
    ...truncations.flatMap(({ relation }) =>
      hanging(
        '',
        `rollcall still warns about the TRUNCATE of ${relation}; \`rollcall capture resync --dismiss\` ends the warning`,
      ),
    ),
  ])
}

export function renderDecisions(decisions: readonly LoggedDecision[]): readonly string[] {
  if (decisions.length === 0) return ['no decision is recorded yet']
  return decisions.flatMap(({ at, action, kind, customers, keys, by, why, open }) => [
    action === 'credible'
      ? `${minute(at)}: drift --credible: for 24 h, reports name missing users`
      : `${minute(at)}: ${action} ${kind === null ? 'by key' : `of kind ${kind}`}, ${customers === 0 ? 'no customer was held' : counted(customers, 'customer')}`,
    ...details({
      key: keys.length > 0 && `${keys.join(', ')}${customers > keys.length ? ' and others' : ''}`,
      ...{ by, why },
      open: open > 0 && `${counted(open, 'customer')} with a change that is not sent yet`,
    }),
  ])
}
