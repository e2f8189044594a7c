import type { CustomerState } from '../ledger/record.ts'
import type { Missed } from '../ledger/runs.ts'
import type { UserField } from '../model/user.ts'
import { fieldsOf } from '../sync/answer.ts'
import type { Memory } from '../sync/memory.ts'
import { type Plan, takesAccess } from '../sync/plan.ts'
import { statusIsRight } from '../sync/right.ts'
import type { Judged, SweepVerdict } from './judge.ts'

/** The sum of what a sweep has found so far; its size does not depend on how many customers there are. */
export type SweepTally = {
  readonly customers: number
  readonly verdicts: Readonly<Record<SweepVerdict, number>>
  /** Of those who are owed: the mapping makes something else of them than it did; whether it or the row has changed
   * cannot be told. */
  readonly unsure: number
  /** Of those who differ: which call comes next, and which fields the updates among these write. */
  readonly plans: Readonly<Partial<Record<Plan['kind'], number>>>
  readonly fields: Readonly<Partial<Record<UserField, number>>>
  /** Of those who differ: who may lose access by it. */
  readonly loseAccess: number
  /** Of everybody: who becomes another user; the one that they were keeps what it has. */
  readonly otherUsers: number
  /** Of those who stay as they are: who waits for a person, or for another row, by state. */
  readonly waiting: Waiting
  /** Of those who stay as they are: out of scope, and nothing was ever known of them. */
  readonly neverInScope: number
  /** Of those who differ: whom capture has missed; see `makeFindMissed`. */
  readonly missed: Missed
}

type Waiting = { readonly held: number; readonly discarded: number; readonly rejected: number }

export const NOTHING_FOUND: SweepTally = {
  customers: 0,
  verdicts: {
    ...{ same: 0, differs: 0, owed: 0, unreadable: 0 },
    ...{ 'another-time': 0, 'never-asked': 0, 'not-selected': 0 },
  },
  unsure: 0,
  plans: {},
  fields: {},
  loseAccess: 0,
  otherUsers: 0,
  waiting: { held: 0, discarded: 0, rejected: 0 },
  neverInScope: 0,
  missed: { inserted: 0, changed: 0, deleted: 0 },
}

export function addTo(tally: SweepTally, { verdict, made }: Judged): SweepTally {
  const verdicts = increased(tally.verdicts, verdict)
  const seen = { ...tally, customers: tally.customers + 1, verdicts }
  if (!made) return seen
  const { found, memory, mapped } = made
  const unsure = tally.unsure + (verdict === 'owed' && found.known && !found.asItWas ? 1 : 0)
  const otherUsers = tally.otherUsers + (found.otherUser ? 1 : 0)
  const stays = verdict === 'same'
  const waiting = stays && waits(found.state) ? increased(tally.waiting, found.state) : tally.waiting
  const outside = stays && !found.known && mapped.kind === 'out-of-scope'
  const neverInScope = tally.neverInScope + (outside ? 1 : 0)
  const counted = { ...seen, unsure, otherUsers, waiting, neverInScope }
  if (verdict !== 'differs') return counted
  const { plan } = found
  return {
    ...counted,
    plans: increased(tally.plans, plan.kind),
    fields: written(plan, memory).reduce(increased, tally.fields),
    loseAccess: tally.loseAccess + (takesAccess(plan, memory) ? 1 : 0),
  }
}

function waits(state: CustomerState): state is keyof Waiting {
  return state in NOTHING_FOUND.waiting
}

export function increased<K extends string, R extends Readonly<Partial<Record<K, number>>>>(
  counts: R,
  name: K,
): R {
  return { ...counts, [name]: (counts[name] ?? 0) + 1 }
}

/** What an update changes at somebody who is there; a create writes everything, which tells nothing. */
function written(plan: Plan, memory: Memory): readonly UserField[] {
  if (!('body' in plan) || plan.kind === 'create') return []
  const carried = 'carried' in plan && plan.carried
  const status = carried || statusIsRight(plan.body.status, memory) ? [] : (['status'] as const)
  return [...status, ...fieldsOf(plan)]
}
