// The plan in full: every case that there can be is held against the tables of docs/plan.md.
import { describe, expect, it } from 'vitest'
import { OPTIONAL_FIELDS, type OptionalField } from '../../src/model/user.ts'
import type { Plan } from '../../src/sync/plan.ts'
import { plan } from '../support/plan-scene.ts'
import { FULL } from '../support/size.ts'
import {
  desiredFields,
  desiredStatus,
  differingIn,
  managedIn,
  mappedIn,
  memoryIn,
  type PlanCase,
  planCases,
  policyIn,
  shownIn,
  toClearIn,
} from './plan-cases.ts'
import { CALLS_HEAD, TABLES, type Tables } from './plan-rules.ts'
import { firstThatFits, type Row } from './rules.ts'

type Wanted = { readonly kind: string; readonly fields?: readonly string[]; readonly body?: object }
type Name = keyof Tables
type Hit = (table: Name, at: number) => void

/** Calls `hit` with each row that was used. */
function wanted(given: PlanCase, tables: Tables, hit: Hit = () => undefined): Wanted {
  const ask = (table: Name, facts: readonly (readonly string[])[]): Row => {
    const { row, at } = firstThatFits(tables[table], facts)
    hit(table, at)
    return row
  }
  const customer = given.customer.startsWith('status') ? [given.customer, 'in scope'] : [given.customer]
  const calls = ask('calls', [customer, [given.claimants], [given.onRemove], [given.createWithoutAccess]])
  const call = calls[CALLS_HEAD.indexOf(remoteWord(given)) - 4] ?? ''
  if (call === 'erasure') {
    const [next = ''] = ask('erasure', [[given.erased], [given.lookedUp], toClear(given)])
    return carried(given, ask, [next, '–'])
  }
  if (call !== 'update') return carried(given, ask, [call, '–'])

  const differing = differingIn(given)
  const [status = ''] = ask('status', [[String(desiredStatus(given))], [given.status]])
  const heldBack = given.heldBack === 'no' ? 'no' : 'yes'
  const [put = ''] = ask('put', [[heldBack], [given.fullyManaged], [given.unmanaged], toWrite(given)])
  const trial = given.customer === 'status 4' && status === 'up to date' ? 'yes' : 'no'
  const fields = differing.length === 0 ? 'up to date' : 'differs'
  return carried(given, ask, ask('updates', [[status], [fields], [put], [trial], [given.lookedUp]]))
}

function remoteWord(given: PlanCase): string {
  if (given.remote === 'unasked') return 'never asked'
  if (given.remote !== 'present') return given.remote
  const free = given.status === 'as desired' && desiredStatus(given) === 0
  return free || given.status === 'sent 4 but seen 0' ? 'present without access' : 'present'
}

function toWrite(given: PlanCase): string[] {
  const { extra, change, clearWith } = given
  return [
    ...(extra === 'yes' ? ['a value in an unmanaged field'] : []),
    ...(change === 'one cleared' && clearWith === 'omit' ? ['clearing by omission'] : []),
    ...(change === 'everything' ? ['all managed fields (several)'] : []),
  ]
}

function toClear(given: PlanCase): string[] {
  return [
    ...(given.heldBack === 'refused' ? ['a refused clearing'] : []),
    ...(Object.keys(shownIn(given)).length > 0 ? ['a field that a GET shows'] : []),
  ]
}

const NOTHING: Readonly<Record<string, null | ''>> = { null: null, 'empty text': '' }

function carried(
  given: PlanCase,
  ask: (table: Name, facts: readonly (readonly string[])[]) => Row,
  [kind = '', whose = '']: Row,
): Wanted {
  if (kind === 'none' || kind === 'lookup' || kind === 'reject') return { kind }
  const [status = '', which = '', without = ''] = ask('carried', [[kind], [given.clearWith]])
  const values = kind === 'erase' ? {} : desiredFields(given)
  const body: Record<string, unknown> = { status: statusOf(given, status === 'as above' ? whose : status) }
  if (kind === 'create') body.user_id = 'u7'
  for (const field of fieldsOf(given, which)) {
    const value = values[field] ?? NOTHING[without]
    if (value !== undefined) body[field] = value
  }
  if (kind === 'revoke') return { kind, body }
  if (kind === 'erase') return { kind, body, fields: toClearIn(given) }
  return { kind, body, fields: kind === 'patch' ? differingIn(given) : managedIn(given) }
}

function fieldsOf(given: PlanCase, which: string): readonly OptionalField[] {
  if (which === 'every field') return OPTIONAL_FIELDS
  if (which === 'fields to clear') return toClearIn(given)
  if (which === 'mapped fields') return managedIn(given)
  return which === 'fields that differ' ? differingIn(given) : []
}

function statusOf(given: PlanCase, whose: string): number {
  if (whose === 'shown') return given.status === 'sent 4 but seen 0' ? 0 : 4
  return whose === 'desired' ? desiredStatus(given) : Number(whose)
}

function made(given: PlanCase): Plan {
  const claimants = given.claimants === 'yes' ? ['8'] : []
  return plan({ mapped: mappedIn(given), memory: memoryIn(given), policy: policyIn(given), claimants })
}

function asWanted(made: Plan): Wanted {
  const { kind } = made
  if (!('body' in made)) return { kind }
  return 'fields' in made ? { kind, body: made.body, fields: made.fields } : { kind, body: made.body }
}

/** The same text for equal plans, in whatever order a body has its fields. */
function text({ kind, body = {}, fields = [] }: Wanted): string {
  const written = ['user_id', 'status', ...OPTIONAL_FIELDS].map(
    (field) => (body as Record<string, unknown>)[field],
  )
  return JSON.stringify([kind, written.map((value) => (value === undefined ? [] : [value])), fields])
}

describe('the plan', () => {
  const cases = planCases()
  /** Every case in the full run; each value of every dimension meets each other one in a thirteenth of them, too. */
  const tried = FULL ? cases : cases.filter((_, at) => at % 13 === 0)

  it('is that of the tables in every case', () => {
    const wrong: unknown[] = []
    for (const given of tried) {
      const right = wanted(given, TABLES)
      const plan = made(given)
      // A status that the service shows is carried in a trial that is right as far as we know, and nowhere else.
      const trial = given.customer === 'status 4' && !['another', 'nothing'].includes(given.status)
      const carried = 'keepsStatus' in plan ? plan.keepsStatus === trial : true
      if (text(asWanted(plan)) !== text(right) || !carried) wrong.push({ given, plan, right })
      if (wrong.length > 2) break
    }
    expect(wrong).toEqual([])
    expect(cases.length).toBeGreaterThan(100_000)
  })

  it.each(Object.keys(TABLES) as Name[])('needs every row of the table "%s"', (table) => {
    const found = new Set<number>()
    const rows = TABLES[table]
    const shorter = rows.map((_, without) => ({ ...TABLES, [table]: rows.filter((_, at) => at !== without) }))
    for (const given of tried) {
      const used: number[] = []
      const right = text(wanted(given, TABLES, (name, at) => name === table && used.push(at)))
      for (const at of used) {
        const rest = shorter[at]
        if (rest && !found.has(at) && saidBy(given, rest) !== right) found.add(at)
      }
      if (found.size === rows.length) break
    }
    expect([...found].toSorted((a, b) => a - b)).toEqual([...rows.keys()])
  })
})

/** Null where the tables leave the case open. */
function saidBy(given: PlanCase, tables: Tables): string | null {
  try {
    return text(wanted(given, tables))
  } catch {
    return null // no row is left for it
  }
}
