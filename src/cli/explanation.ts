// One customer for a person, in sections; every view is a choice of them.

import type { DriftCause } from '../drift/words.ts'
import type { Explanation } from '../explain/explain.ts'
import type { FieldRow } from '../explain/fields.ts'
import { historyOf } from '../explain/records.ts'
import { asJson, columns, details, type LabelledText, shown } from './render.ts'
import { renderHistory } from './render-history.ts'
import {
  sayAccess,
  sayDesired,
  sayLeftAlone,
  sayNext,
  sayRecords,
  sayRemedy,
  sayRemote,
  sayResult,
} from './say-explanation.ts'
import { sayMapped, sayPlan } from './say-step.ts'

export type View = 'all' | 'access' | 'diff' | 'dry-run'

export function renderExplanation(one: Explanation, view: View, chat: readonly string[]): string[] {
  const next = details([['next', sayNext(one)]])
  const verdict = details(verdictEntries(one, view))
  const facts = details(factEntries(one))
  switch (view) {
    case 'all': {
      const history = historyOf(one.rollcall)
      const stored = history === null ? [] : renderHistory(history)
      // Of so much the verdict comes first.
      return [...verdict, '', ...facts, ...chat, ...next, ...renderFields(one), ...stored]
    }
    case 'access':
      return [...facts, ...chat, ...verdict]
    case 'diff':
      return [...facts, ...renderFields(one), ...next, ...verdict]
    case 'dry-run':
      return renderDryRun(one)
    default:
      return view satisfies never
  }
}

function factEntries(one: Explanation): LabelledText[] {
  const { userId, leftOut, claimants, service, rollcall } = one
  return [
    ['user', userId ?? 'none: the key makes no user_id'],
    ['desired', sayDesired(one)],
    ['left out', leftOut.map(({ field, code }) => `${field} (${code})`).join(', ')],
    ['service', sayRemote(service)],
    ['rollcall', sayRecords(rollcall)],
    ['note', claimants.length > 0 && `other customers have the same user_id: ${claimants.join(', ')}`],
    ['note', sayLeftAlone(one)],
  ]
}

function verdictEntries(one: Explanation, view: View): LabelledText[] {
  return [
    ...remedyEntries(one),
    ['result', (view !== 'access' || one.result === 'differs') && sayResult(one)],
    ['access', view !== 'diff' && sayAccess(one)],
  ]
}

function remedyEntries(one: Explanation): LabelledText[] {
  return one.remedies.map((remedy) => ['to do', sayRemedy(remedy, one)])
}

const AS_NEW =
  'planned as if nothing had been sent before: no ledger of this target, or no ROLLCALL_DIGEST_KEY'

function renderDryRun(one: Explanation): string[] {
  const { mapped, plan, withoutLedger } = one
  if (mapped === null || plan === null) return details([['row', sayDesired(one)], ...remedyEntries(one)])
  return [
    ...sayMapped(mapped),
    ...details([
      ['plan', sayPlan(plan)],
      ['note', withoutLedger && AS_NEW],
    ]),
  ]
}

const CAUSE: Readonly<Record<DriftCause, string>> = {
  'never-delivered': 'not delivered yet',
  'unknown-outcome': 'outcome unknown',
  'edited-at-service': 'edited at the service',
  'mapping-changed': 'mapping changed',
  normalised: "the service's own form",
}

const HEAD = ['  field', 'here', 'service', 'state', 'why']

/** Desired and at the service, field by field; with values where they were asked for. */
export function renderFields({ drift, fields }: Explanation): string[] {
  const missing = drift?.kind === 'missing' && drift.cause
  if (fields.length === 0) return details([['why', missing && CAUSE[missing]]])
  const cells = fields.map(({ field, here, service, state, cause, issue }) => [
    `  ${field}`,
    here === 'unmanaged' ? '–' : here,
    service === 'not-shown' ? '–' : service,
    state.replace('-', ' '),
    cause ? CAUSE[cause] : (issue ?? ''),
  ])
  const values = renderValues(fields)
  return ['', ...columns([HEAD, ...cells]), ...(values.length > 0 ? ['', ...values] : []), '']
}

function renderValues(fields: readonly FieldRow[]): string[] {
  const width = Math.max(0, ...fields.map(({ field }) => field.length))
  return fields.flatMap(({ field, service: shows, values }) => {
    const { here = null, service = null } = values ?? {}
    if (here === null && service === null) return []
    const seen = shows === 'not-shown' ? 'not shown' : sayValue(service)
    const name = `  ${field.padEnd(width)}  `
    if (sayValue(here) === seen) return [`${name}both     ${seen}`]
    return [`${name}here     ${sayValue(here)}`, `${' '.repeat(name.length)}service  ${seen}`]
  })
}

/** In one line, quoted, so that blanks at its ends are seen; what a terminal would obey is escaped. */
function sayValue(value: unknown): string {
  if (value === null) return '–'
  return typeof value === 'object' ? shown(JSON.stringify(value)) : asJson(value)
}
