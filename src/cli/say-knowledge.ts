import { isOverdue, type Knowledge, type Known } from '../access/knowledge.ts'
import type { Reason } from '../ledger/record.ts'
import { span } from './say-time.ts'

const WITHOUT: Readonly<Record<Exclude<Knowledge['kind'], 'known' | 'other-target'>, string>> = {
  'not-installed': 'not installed in this database: what is owed is not known',
  'not-readable': 'its tables may not be read by this role: what is owed is not known',
  'not-migrated': 'its tables are of another version: what is owed is not known',
  locked: 'its tables gave no answer within ten seconds (a lock?): what is owed is not known',
}

/** What rollcall's own tables say of a customer, in one line: codes, statuses, names and times. */
export function sayKnowledge(knowledge: Knowledge): string {
  switch (knowledge.kind) {
    case 'not-installed':
    case 'not-readable':
    case 'not-migrated':
    case 'locked':
      return WITHOUT[knowledge.kind]
    case 'other-target':
      return `its records are about another target: ${knowledge.differences.join('; ')}`
    case 'known':
      return sayKnown(knowledge)
    default:
      return knowledge satisfies never
  }
}

function sayKnown(known: Known): string {
  const { record, owed, searched, recorded } = known
  const { state, reason } = record
  if (!recorded) return 'has no record of this customer, and owes nothing'
  return [
    sayOwed(known),
    ...(state === 'idle' ? [] : [`${state}${sayReason(reason)}`]),
    ...(owed?.unknown ? ['the state at the service counts as unknown'] : []),
    ...(searched ? [] : ['the outbox is too large to look for newer changes']),
  ].join('; ')
}

function sayOwed(known: Known): string {
  const { record, owed, capturedMs } = known
  if (capturedMs !== null)
    return `owed: a change was captured ${span(capturedMs)} ago, and no worker has noted it`
  if (owed === null || owed.dueInMs === null) {
    return `nothing owed${record.writtenAgoMs === null ? '' : `, last written ${span(record.writtenAgoMs)} ago`}`
  }
  const since = owed.sinceMs === null ? 'owed' : `owed for ${span(owed.sinceMs)}`
  if (isOverdue(known)) return `${since}, due for ${span(-owed.dueInMs)} and not taken`
  if (owed.underWay) return `${since}, under way`
  return owed.dueInMs > 0 ? `${since}, next attempt in ${span(owed.dueInMs)}` : `${since}, due now`
}

function sayReason(reason: Reason | null): string {
  if (reason === null) return ''
  const { code, status, error, fields = [], keys = [] } = reason
  const about = [...fields, ...keys].join(', ')
  return ` (${[code, status, error].filter(Boolean).join(' ')}${about === '' ? '' : `: ${about}`})`
}
