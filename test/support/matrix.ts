// The field matrix: what must go over the wire for every field, action, verb and policy. It follows the interface
// document (sections 2.6 and 4.3 to 4.6) and the promises of the policies. Nothing comes from src, so that a mistake
// there is not repeated here. Bodies are texts, in the order of section 2.6.
import type { FieldMapping, RollcallConfig } from '../../src/config/define.ts'

type Text = { readonly row: string; readonly wire: string }
type Cell = null | 'first' | 'second' | 'invalid'
type Field = {
  readonly name: string
  readonly column: string
  readonly first: Text
  readonly second: Text
  readonly invalid: string
  /** The value that another system sets at the service if the mapping does not set the field. */
  readonly theirs: string
}

const field = (name: string, column: string, ...texts: readonly string[]): Field => {
  const [row = '', wire = '', row2 = '', wire2 = '', invalid = '', theirs = ''] = texts
  return { name, column, first: { row, wire }, second: { row: row2, wire: wire2 }, invalid, theirs }
}

/** The optional fields in the order of section 2.6: as the row has it, and as JSON text. */
export const FIELDS: readonly Field[] = [
  field('email', 'correo', 'ana@a.es', '"ana@a.es"', 'Ana@b.es', '"Ana@b.es"', 'no-mail', '"x@x.es"'),
  field('nid_number', 'dni', '12345678z', '"12345678Z"', 'X1234567L', '"X1234567L"', '12345678A', '"1T"'),
  field('first_name', 'nombre', 'Begoña "B"', '"Begoña \\"B\\""', 'Íñigo', '"Íñigo"', '?', '"Theirs"'),
  field('last_name', 'apellidos', "O'Hara", '"O\'Hara"', 'Núñez\\n', '"Núñez\\\\n"', '?', '"Theirs"'),
  field('gender', 'sexo', 'h', '0', 'm', '1', '?', '1'),
  field(
    'birthdate',
    'nacido',
    '1980-02-29',
    '"1980-02-29"',
    '1999-10-31',
    '"1999-10-31"',
    '1981-02-29',
    '"2000-01-01"',
  ),
  field(
    'mobile_phone',
    'movil',
    '600 111 222',
    '"600111222"',
    '346-001',
    '"346001"',
    'no phone',
    '"699000111"',
  ),
  field('mobile_phone_prefix', 'prefijo', '+34', '"34"', '00351', '"351"', '0', '"44"'),
  field('coverage_name', 'cobertura', 'hogar', '"hogar"', 'auto/2', '"auto/2"', '?', '"theirs"'),
  field('contract_number', 'contrato', '007', '"007"', '1e3', '"1e3"', '?', '"theirs"'),
  field('service_language_code', 'idioma', 'ES', '"es"', 'ca', '"ca"', 'qq', '"en"'),
  field('description', 'notas', 'línea 1\nlínea 2', '"línea 1\\nlínea 2"', '😀', '"😀"', '?', '"theirs"'),
  field('country_code', 'pais', 'es', '"ES"', 'PT', '"PT"', 'ZZ', '"FR"'),
  field('ml_group_name', 'grupo', 'g1', '"g1"', 'NULL', '"NULL"', '?', '"theirs"'),
  field('md_group_name', 'grupo_medico', '0', '"0"', 'm2', '"m2"', '?', '"theirs"'),
]

export const COLUMNS: readonly string[] = ['id', 'plan', ...FIELDS.map(({ column }) => column)]

/** Every column is text, so that each of them can hold what does not fit. */
export const TABLE = `CREATE TABLE clientes (id text PRIMARY KEY, plan text, ${FIELDS.map(({ column }) => `${column} text`).join(', ')})`

const PLANS = { free: 0, premium: 2, trial: 4 } as const
/** `none` and `gold` are no plans: nothing says what status they stand for. */
type PlanName = keyof typeof PLANS | 'none' | 'gold'

export type Setting = {
  /** Which fields the mapping sets: all of them, or every second one. */
  readonly managed: 'all' | 'even' | 'odd'
  readonly unmanaged: 'keep' | 'clear'
  readonly clearWith: 'null' | 'empty' | 'omit'
}

type State = { readonly plan: PlanName; readonly cells: Readonly<Record<string, Cell>> }
/** `one`: nothing else changes. `all`: every other field changes too. `lookup`: one, and the service is looked up first. */
export type Mode = 'one' | 'all' | 'lookup'
export type Case = {
  readonly key: string
  readonly mode: Mode
  readonly before: State
  readonly after: State
  /** Method and body of every call, in order. */
  readonly created: readonly string[]
  readonly updated: readonly string[]
  /** The user at the end, as JSON text by field; null: the user does not exist. */
  readonly held: Readonly<Record<string, string>> | null
  /** The field that is left out at the end because its value does not fit. */
  readonly issue: string | null
}

const managedBy = ({ managed }: Setting) =>
  FIELDS.filter((_field, at) => managed === 'all' || at % 2 === (managed === 'even' ? 0 : 1))
export const unmanagedBy = (setting: Setting) => FIELDS.filter((each) => !managedBy(setting).includes(each))

/** Texts that any value would fit are taken from a list, so that there is something that does not fit them either. */
export function mappingOf(setting: Setting): RollcallConfig['mapping'] {
  const given = managedBy(setting).map(({ name, column, first, second, invalid }): [string, FieldMapping] => {
    const values = Object.fromEntries([first, second].map(({ row, wire }) => [row, JSON.parse(wire)]))
    return [name, invalid === '?' ? { column, values } : column]
  })
  return { ...Object.fromEntries(given), user_id: 'id', status: { column: 'plan', values: PLANS } }
}

/** Every field × set, change, clear, invalid, mended × one, all, lookup; and every status, to every other and to none. */
export function casesOf(setting: Setting): readonly Case[] {
  const actions: readonly (readonly [string, Cell, Cell])[] = [
    ['set', null, 'first'],
    ['change', 'first', 'second'],
    ['clear', 'first', null],
    ['invalid', 'first', 'invalid'],
    ['mended', 'invalid', 'first'],
  ]
  const cases: Case[] = []
  const add = (name: string, mode: Mode, before: State, after: State) =>
    cases.push(makeCase(setting, `${name}-${mode}`, { mode, before, after }))
  for (const mode of ['one', 'all', 'lookup'] as const) {
    const cells = {
      before: cellsOf(setting, 'first'),
      after: cellsOf(setting, mode === 'all' ? 'second' : 'first'),
    }
    for (const { name } of managedBy(setting)) {
      for (const [action, from, to] of actions) {
        for (const plan of plansOf(mode, action)) {
          const before = { plan, cells: { ...cells.before, [name]: from } }
          add(`${name}-${action}-${plan}`, mode, before, { plan, cells: { ...cells.after, [name]: to } })
        }
      }
    }
    for (const from of ['free', 'premium', 'trial', 'gold', 'none'] as const) {
      for (const to of ['free', 'premium', 'trial', 'gold', 'none'] as const) {
        if (from === to) continue
        add(`${from}-to-${to}`, mode, { plan: from, cells: cells.before }, { plan: to, cells: cells.after })
      }
    }
  }
  return cases
}

/** The fields are what this is about; that each status goes with them is shown where something changes. */
function plansOf(mode: Mode, action: string): readonly (keyof typeof PLANS)[] {
  const some = mode !== 'lookup' && (action === 'change' || action === 'clear')
  return some ? ['premium', 'trial', 'free'] : ['premium']
}

function cellsOf(setting: Setting, cell: Cell): Record<string, Cell> {
  return Object.fromEntries(managedBy(setting).map(({ name }) => [name, cell]))
}

function makeCase(setting: Setting, key: string, change: Pick<Case, 'mode' | 'before' | 'after'>): Case {
  const { before, after, mode } = change
  const known = statusOf(before) !== null
  const managed = managedBy(setting)
  const issue = managed.find(({ name }) => after.cells[name] === 'invalid')?.name ?? null
  const created = known ? registration(key, before, managed) : []
  const rejected = statusOf(after) === null
  const first = rejected ? [] : [...(mode === 'lookup' ? ['GET '] : []), ...registration(key, after, managed)]
  const updated = known ? updating(setting, change) : [...new Set(first)]
  const put = updated.some((call) => call.startsWith('PUT'))
  const last = rejected ? before : after
  const held = () => ({
    status: String(statusOf(last)),
    ...Object.fromEntries(
      managed.map((each) => {
        const cell = last.cells[each.name]
        return [
          each.name,
          (cell === 'invalid' && known ? wireOf(each, before) : wireOf(each, last)) ?? 'null',
        ]
      }),
    ),
    ...Object.fromEntries(
      unmanagedBy(setting).map(({ name, theirs }) => [name, put || !known ? 'null' : theirs]),
    ),
  })
  return {
    ...change,
    key,
    created,
    updated,
    held: known || !rejected ? held() : null,
    issue: rejected ? null : issue,
  }
}

/** Section 4.3. A customer without access from the start gets a lookup first, because a create might take access. */
function registration(key: string, state: State, managed: readonly Field[]): string[] {
  const given = managed.flatMap((each) => {
    const wire = wireOf(each, state)
    return wire === null ? [] : [`,"${each.name}":${wire}`]
  })
  const post = `POST {"user_id":"${key}","status":${statusOf(state)}${given.join('')}}`
  return state.plan === 'free' ? ['GET ', post] : [post]
}

/** Sections 4.5 and 4.6: the status is required on both; a PUT is the complete set, a PATCH only what changes. */
function updating(
  setting: Setting,
  { mode, before, after }: Pick<Case, 'mode' | 'before' | 'after'>,
): string[] {
  const { unmanaged, clearWith } = setting
  if (statusOf(after) === null) return []
  const managed = managedBy(setting)
  const fits = managed.filter(({ name }) => after.cells[name] !== 'invalid')
  const changed = fits.filter((each) => wireOf(each, before) !== wireOf(each, after))
  // A trial may have ended at the service, so a change of anything else makes a lookup first.
  const staysTrial = before.plan === 'trial' && after.plan === 'trial'
  const lookup = mode === 'lookup' || (staysTrial && changed.length > 0) ? ['GET '] : []
  const status = statusOf(after)

  const whole = fits.length === managed.length && (setting.managed === 'all' || unmanaged === 'clear')
  // The values of another system are known after a lookup.
  const clears = lookup.length > 0 && unmanaged === 'clear' && setting.managed !== 'all'
  const left = clearWith === 'omit' && changed.some((each) => wireOf(each, after) === null)
  if (whole && (clears || left || changed.length === managed.length)) {
    const said = FIELDS.flatMap((each) => {
      const wire = managed.includes(each) ? wireOf(each, after) : null
      if (wire === null && clearWith === 'omit') return []
      return [`,"${each.name}":${wire ?? emptied(clearWith)}`]
    })
    return [...lookup, `PUT {"status":${status}${said.join('')}}`]
  }
  if (changed.length === 0 && before.plan === after.plan) return lookup
  const said = changed.map((each) => `,"${each.name}":${wireOf(each, after) ?? emptied(clearWith)}`)
  return [...lookup, `PATCH {"status":${status}${said.join('')}}`]
}

const emptied = (clearWith: Setting['clearWith']) => (clearWith === 'empty' ? '""' : 'null')

function statusOf({ plan }: State): number | null {
  return plan === 'none' || plan === 'gold' ? null : PLANS[plan]
}

/** Null for nothing, and for what does not fit. */
function wireOf(each: Field, { cells }: State): string | null {
  const cell = cells[each.name] ?? null
  return cell === 'first' || cell === 'second' ? each[cell].wire : null
}

/** The row of the table. */
export function rowOf({ key }: Case, { plan, cells }: State): Readonly<Record<string, string | null>> {
  const columns = FIELDS.map((each) => {
    const cell = cells[each.name] ?? null
    return [each.column, cell === null ? null : cell === 'invalid' ? each.invalid : each[cell].row]
  })
  return { id: key, plan: plan === 'none' ? null : plan, ...Object.fromEntries(columns) }
}
