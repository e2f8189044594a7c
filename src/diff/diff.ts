// What is desired of a customer beside what the service has, what explains it, and what a sync would do. Pure.

import { type Cure, curesFor } from '../access/cure.ts'
import type { Evidence, LookedAt } from '../access/customer.ts'
import { isOwed } from '../access/knowledge.ts'
import { type Plans, plansFor } from '../access/next.ts'
import type { AbsenceCause } from './cause.ts'
import { type Row, recordFor, rowsOf, type Standing } from './rows.ts'

/** `unknown`: it could not be found out. */
export type Result = 'same' | 'differs' | 'unknown'

export type Diff = {
  readonly looked: LookedAt
  readonly result: Result
  /** In the order of section 2.6; none when there is nothing to compare. */
  readonly rows: readonly Row[]
  /** Why somebody who is wanted is not there. */
  readonly absence: AbsenceCause | null
  /** What a sync would do; null when that cannot be told without more records or rights. */
  readonly plans: Pick<Plans, 'now' | 'looked'> | null
  readonly records: Records
  readonly cures: readonly Cure[]
}

/** `other-key`: their digests were made with another key than the one that is at hand, if there is one at all. */
export type Records = 'comparable' | 'other-key' | 'none'

export type Gathered = { readonly looked: LookedAt; readonly evidence: Evidence }

export function diffUser({ looked, evidence }: Gathered, consistencyDelayMs: number): Diff {
  const { seen, rivals } = evidence
  const standing = standingOf({ looked, evidence }, consistencyDelayMs)
  const { memory, ...plans } = plansFor({ ...evidence, rivals: rivals ?? [] })
  const leave = looked.next.kind === 'left-alone' || looked.should.kind === 'unreadable'
  const there = seen !== undefined && seen !== 'absent' && !leave
  const rows = there ? rowsOf({ looked, evidence, standing, memory, remote: seen }) : []
  const wanted = seen === 'absent' && looked.should.kind === 'user'
  return {
    looked,
    result: resultOf({ looked, answered: seen !== undefined, absent: seen === 'absent', rows }),
    rows,
    absence: wanted ? absenceOf(standing) : null,
    plans: standing.comparable && rivals !== null ? plans : null,
    records: standing.known ? (standing.comparable ? 'comparable' : 'other-key') : 'none',
    cures: curesOf(looked, rows, consistencyDelayMs),
  }
}

/** As `rollcall access` advises; what the service refused is no difference to it. */
function curesOf(looked: LookedAt, rows: readonly Row[], consistencyDelayMs: number): readonly Cure[] {
  const cures = curesFor({
    ...looked,
    chat: { kind: 'not-asked', why: 'no-token' },
    bearer: null,
    consistencyDelayMs,
  })
  const refused = rows.some(({ verdict, here }) => here === 'refused' && verdict === 'differs')
  return cures.length === 0 && refused ? [{ do: 'correct', waitMs: null }] : cures
}

function standingOf({ looked, evidence }: Gathered, consistencyDelayMs: number): Standing {
  const { known, digestKey } = evidence
  const record = recordFor(known.record, looked.userId)
  const { writtenAgoMs } = record
  const isKnown = looked.knowledge.kind === 'known'
  return {
    record,
    known: isKnown,
    comparable: isKnown && (record.digestKey === null || record.digestKey === digestKey),
    unknown: known.owed?.unknown ?? false,
    owed: looked.knowledge.kind === 'known' && isOwed(looked.knowledge),
    fresh: writtenAgoMs !== null && writtenAgoMs < consistencyDelayMs,
  }
}

type Judged = {
  readonly looked: Pick<LookedAt, 'should' | 'next' | 'look'>
  readonly answered: boolean
  readonly absent: boolean
  readonly rows: readonly Pick<Row, 'verdict'>[]
}

/**
 * A spelling is no difference: the service may have its own. Nor is what cannot be seen, whatever is remembered of it.
 * A customer who cannot be sent as it is differs, whatever the service has.
 */
export function resultOf({ looked: { should, next, look }, answered, absent, rows }: Judged): Result {
  if (should.kind === 'unreadable') return 'unknown'
  if (look.kind === 'none') return 'differs'
  if (!answered) return 'unknown'
  if (next.kind === 'left-alone') return 'same'
  if (next.kind === 'blocked') return 'differs'
  if (absent) return should.kind === 'user' ? 'differs' : 'same'
  const differs = rows.some(({ verdict }) => verdict === 'differs')
  // Of somebody who is gone it cannot be told whether the access is another customer's.
  if (differs && should.kind !== 'user' && next.kind === 'unsaid') return 'unknown'
  return differs ? 'differs' : 'same'
}

export function absenceOf({
  known,
  unknown,
  fresh,
  record,
}: Omit<Standing, 'comparable' | 'owed'>): AbsenceCause {
  if (!known) return 'not-known'
  if (unknown || record.remote === 'unknown') return 'in-doubt'
  switch (record.remote) {
    case 'unasked':
      return 'never-delivered'
    case 'absent':
      return 'not-delivered-since'
    case 'present':
      return fresh ? 'just-written' : 'changed-there'
    default:
      return record.remote satisfies never
  }
}

/** 0 nothing differs, 3 something does, 1 of somebody it could not be found out; that goes before 3. */
export function exitFor(results: readonly Result[]): 0 | 1 | 3 {
  if (results.includes('unknown')) return 1
  return results.includes('differs') ? 3 : 0
}
