import type { AbsenceCause, As, Cause, FieldVerdict, Here, There } from '../diff/cause.ts'
import type { Diff, Records } from '../diff/diff.ts'
import type { Values } from '../diff/open.ts'
import type { Row } from '../diff/rows.ts'
import { asJson } from './json.ts'
import { sayLook, sayNext, sayShould } from './say-access.ts'
import { sayCure } from './say-cure.ts'
import { sayKnowledge } from './say-knowledge.ts'
import { line, sayPlan } from './say-step.ts'
import { wrapped } from './say-wrapped.ts'
import { shown } from './shown.ts'

/** One customer for a person: codes, statuses and names; values only where they are handed in. */
export function sayDiff(diff: Diff, values: Values | null): string[] {
  const { looked, rows, cures } = diff
  const { next } = looked
  const apart = rows.length > 0 ? [''] : []
  return [
    line('user', looked.userId === null ? 'none: it cannot be told from this key' : shown(looked.userId)),
    ...wrapped('should', sayShould(looked)),
    ...wrapped('service', sayLook(looked.look)),
    ...wrapped('rollcall', sayKnowledge(looked.knowledge)),
    ...apart,
    ...sayRows(rows),
    ...(values ? sayValues(rows, values) : []),
    ...apart,
    ...sayCauses(diff),
    ...(next.kind === 'blocked' || next.kind === 'left-alone' ? sayNext(looked) : []),
    ...wrapped('next', sayPlans(diff)),
    ...cures.flatMap((cure) => wrapped('to do', sayCure(cure, looked))),
    ...wrapped('verdict', sayResult(diff)),
  ]
}

const HERE: Readonly<Record<Here, string>> = {
  set: 'set',
  empty: 'empty',
  cleared: 'empty',
  unmanaged: 'unmanaged',
  'left-out': 'left out',
  refused: 'refused',
}

const THERE: Readonly<Record<There, string>> = { set: 'set', empty: 'empty', 'not-shown': 'not shown' }

const VERDICT: Readonly<Record<FieldVerdict, string>> = {
  same: 'same',
  spelling: 'spelling',
  differs: 'differs',
  'trial-ended': 'trial ended',
  'cannot-be-seen': 'cannot be seen',
  'left-out': 'left as it is',
  'not-ours': 'not ours',
}

const SENT: Readonly<Record<As, string>> = { yes: 'yes', no: 'no', never: 'never', unknown: 'unknown' }

/** A write makes what was seen before it void, so "never" would say too much. */
const SEEN: Readonly<Record<As, string>> = { ...SENT, never: 'not yet' }

const HEAD = ['field', 'here', 'service', 'verdict', 'as sent', 'as seen']

function sayRows(rows: readonly Row[]): string[] {
  if (rows.length === 0) return []
  const cells = rows.map(({ field, here, there, verdict, asSent, asSeen }) => [
    field,
    HERE[here],
    THERE[there],
    VERDICT[verdict],
    SENT[asSent],
    SEEN[asSeen],
  ])
  return table([HEAD, ...cells])
}

function table(cells: readonly (readonly string[])[]): string[] {
  const widths = HEAD.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
  return cells.map((row) =>
    `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd(),
  )
}

function sayValues(rows: readonly Row[], values: Values): string[] {
  const width = Math.max(0, ...rows.map(({ field }) => field.length))
  const said = rows.flatMap(({ field, there }) => {
    const { here = null, service = null } = values.get(field) ?? {}
    if (here === null && service === null) return []
    const seen = there === 'not-shown' ? 'not shown' : sayValue(service)
    const name = `  ${field.padEnd(width)}  `
    if (sayValue(here) === seen) return [`${name}both     ${seen}`]
    return [`${name}here     ${sayValue(here)}`, `${' '.repeat(name.length)}service  ${seen}`]
  })
  return said.length === 0 ? [] : ['', ...said]
}

/** In one line, quoted, so that blanks at its ends are seen; what a terminal would obey is escaped. */
function sayValue(value: unknown): string {
  if (value === null) return '–'
  return typeof value === 'object' ? shown(JSON.stringify(value)) : asJson(value)
}

const NO_RECORDS: Readonly<Record<Exclude<Records, 'comparable'>, string>> = {
  none: 'not known: no records of this target can be read',
  'other-key':
    'not known: the records were made with another ROLLCALL_DIGEST_KEY than this one, or none is set here',
}

const CAUSE: Readonly<Record<Exclude<Cause, 'left-out' | 'not-known'>, string>> = {
  refused: 'the service refused it, and it is not sent again until it changes',
  'to-be-cleared': "not in the mapping, and cleared by the next full update (unmanaged: 'clear')",
  'in-doubt': 'a call of which the outcome is not known may have changed it',
  'never-delivered': 'never delivered',
  'not-delivered-since': 'not delivered since a GET showed another value',
  owed: 'owed, changed here since it was sent',
  'changed-here': 'changed here since it was sent (the row or the mapping), and nothing is owed',
  'just-written': 'written a moment ago: the service may show it late',
  'changed-there': 'changed at the service since',
  'own-form': 'as it was sent, in a form of its own at the service',
  acknowledged: 'in no GET; acknowledged as it is here',
}

/** One line for each cause, with its fields. */
function sayCauses({ rows, absence, records }: Diff): string[] {
  const said = rows.flatMap(({ field, cause, issue }) =>
    cause === null ? [] : [{ field, why: sayCause(cause, issue, records) }],
  )
  const grouped = [...Map.groupBy(said, ({ why }) => why)]
  const about = grouped.map(([why, all]) => `${all.map(({ field }) => field).join(', ')}: ${why}`)
  const all = absence === null ? about : [sayAbsence(absence, records)]
  return all.flatMap((text) => wrapped('why', text))
}

function sayCause(cause: Cause, issue: Row['issue'], records: Records): string {
  if (cause === 'left-out') return `left out, and left as it is at the service (${issue})`
  return cause === 'not-known' ? sayNotKnown(records) : CAUSE[cause]
}

function sayNotKnown(records: Records): string {
  return NO_RECORDS[records === 'comparable' ? 'none' : records]
}

const ABSENCE: Readonly<Record<Exclude<AbsenceCause, 'not-known'>, string>> = {
  'in-doubt': 'a call of which the outcome is not known may have registered it',
  'never-delivered': 'never delivered',
  'not-delivered-since': 'not delivered since a GET found no such user',
  'just-written': 'written a moment ago: the service may show it late',
  'changed-there': 'removed at the service since',
}

function sayAbsence(cause: AbsenceCause, records: Records): string {
  return cause === 'not-known' ? sayNotKnown(records) : ABSENCE[cause]
}

type Planned = Pick<Diff, 'plans' | 'records'> & { readonly looked: Pick<Diff['looked'], 'next'> }

/** What a sync would do by what is remembered, and what it would once it has looked, where that is another thing. */
export function sayPlans({ plans, records, looked: { next } }: Planned): string {
  if (next.kind === 'blocked') return 'nothing is sent as long as it is so'
  if (records !== 'comparable') return NO_RECORDS[records]
  if (plans === null) return 'not known: a row of a customer with the same user_id cannot be read'
  const { now, looked } = plans
  const said = sayPlan(now)
  if (next.kind === 'left-alone' || looked === null || sayPlan(looked) === said) return said
  if (now.kind === 'lookup') return `${said}; then: ${sayPlan(looked)}`
  const blind = now.kind === 'none' ? 'nothing to send, as far as rollcall remembers' : said
  return `${blind}; with --look: ${sayPlan(looked)}`
}

export function sayResult({ result, looked, rows, absence }: Diff): string {
  const { should, next, look } = looked
  switch (result) {
    case 'unknown':
      return should.kind === 'unreadable'
        ? 'unknown: the row could not be read'
        : `unknown: ${look.kind === 'present' ? 'somebody else may be this user' : 'the service did not say'}`
    case 'same':
      if (next.kind === 'left-alone') return 'same: nothing is asked for'
      return `same: ${look.kind === 'absent' ? 'no such user, and none is wanted' : sayNothingDiffers(rows)}`
    case 'differs': {
      if (absence !== null) return 'differs: not registered at the service'
      const fields = rows.filter(({ verdict }) => verdict === 'differs').map(({ field }) => field)
      const blocked = next.kind === 'blocked' ? ['it cannot be sent as it is'] : []
      return `differs: ${[...fields, ...blocked].join(', ')}`
    }
    default:
      return result satisfies never
  }
}

function sayNothingDiffers(rows: readonly Row[]): string {
  const ended = rows.some(({ verdict }) => verdict === 'trial-ended') ? '; the trial has ended' : ''
  const unseen = rows.filter(({ verdict }) => verdict === 'cannot-be-seen').map(({ field }) => field)
  return `nothing differs${ended}${unseen.length === 0 ? '' : `; ${unseen.join(', ')} cannot be seen`}`
}
