import { describe, expect, it } from 'vitest'
import type { Config } from '../../src/config/config.ts'
import type { RollcallConfig } from '../../src/config/define.ts'
import { resolveConfig } from '../../src/config/resolve.ts'
import { RollcallError } from '../../src/model/errors.ts'
import { OPTIONAL_FIELDS } from '../../src/model/user.ts'

const minimal: RollcallConfig = {
  customers: { table: 'clientes', key: 'id_cliente' },
  mapping: { user_id: 'id_cliente', status: 'estado' },
}

const allFields = Object.fromEntries(OPTIONAL_FIELDS.map((field) => [field, field]))

function resolve(overrides: Record<string, unknown> = {}): Config {
  return resolveConfig({ ...minimal, ...overrides }, '/app/rollcall.config.ts')
}

function mistakes(raw: unknown): readonly string[] {
  try {
    resolveConfig(raw, '/app/c.ts', 'c.ts')
  } catch (error) {
    if (!(error instanceof RollcallError)) throw error
    expect(error.code).toBe('CONFIG_INVALID')
    return error.details
  }
  return []
}

describe('resolveConfig', () => {
  it('fills in every default', () => {
    const { mapping, clearWith, fingerprint, ...rest } = resolve()
    expect(rest).toEqual({
      file: '/app/rollcall.config.ts',
      customers: {
        relation: { schema: 'public', name: 'clientes' },
        key: ['id_cliente'],
        searchPath: [],
        rowSecurity: 'refuse',
      },
      watch: [{ relation: { schema: 'public', name: 'clientes' }, key: ['id_cliente'] }],
      scope: null,
      strict: false,
      unmanaged: 'keep',
      onRemove: 'revoke',
      createWithoutAccess: true,
      phonePrefix: 'digits',
      service: { environment: 'production', allowPlainHttp: false, timeoutMs: 10_000 },
      pace: { ceiling: 50, concurrency: 20 },
      timing: {
        gapMs: 1000,
        lifetimeMs: 30_000,
        queueLeaseMs: 30_000,
        consistencyDelayMs: 5000,
        retryMinMs: 1000,
        retryMaxMs: 3_600_000,
      },
      capture: { outboxLimitMb: 1024, checkHours: 24 },
      brake: {
        windowHours: 24,
        changes: { customers: 100, share: 0.01 },
        creates: { customers: 10_000, share: 0.1 },
      },
      history: { keepDays: 14 },
      reconcile: { periodMs: 604_800_000, mode: 'report', maxShare: 0.05, keepDays: 90 },
    })
    expect(fingerprint).toMatch(/^[\w-]{22}$/)
    expect(Object.keys(mapping)).toEqual(['user_id', 'status'])
    expect(clearWith).toEqual(Object.fromEntries(OPTIONAL_FIELDS.map((field) => [field, 'null'])))
  })

  it('keeps every value that the author gives', () => {
    const given = {
      strict: true,
      unmanaged: 'clear',
      onRemove: 'ignore',
      createWithoutAccess: false,
      phonePrefix: 'plus',
      service: { environment: 'demo', allowPlainHttp: true, timeoutMs: 300 },
      pace: { ceiling: 0.5, concurrency: 3 },
      timing: {
        gapMs: 0,
        lifetimeMs: 900,
        queueLeaseMs: 5,
        consistencyDelayMs: 600,
        retryMinMs: 1,
        retryMaxMs: 1,
      },
      capture: { outboxLimitMb: 1 },
    }
    expect(resolve(given)).toMatchObject(given)
  })

  it('keeps the defaults of a section beside what is given of it', () => {
    expect(resolve({ pace: { ceiling: 5 } }).pace).toEqual({ ceiling: 5, concurrency: 20 })
  })

  it('is frozen to the bottom', () => {
    const config = resolve({ scope: { column: 'pais', in: ['ES'] } })
    for (const part of [
      config,
      config.watch,
      config.watch[0]?.key,
      config.mapping.status,
      config.scope?.columns,
    ]) {
      expect(Object.isFrozen(part)).toBe(true)
    }
  })

  it('takes one clearing for all fields, or one for each', () => {
    expect(resolve({ clearWith: 'empty' }).clearWith.email).toBe('empty')
    const { clearWith } = resolve({ clearWith: { email: 'empty' } })
    expect([clearWith.email, clearWith.last_name]).toEqual(['empty', 'null'])
  })

  it("takes 'omit' where a PUT may be used", () => {
    expect(mistakes({ ...minimal, clearWith: 'omit', unmanaged: 'clear' })).toEqual([])
    expect(
      mistakes({ ...minimal, clearWith: 'omit', mapping: { ...minimal.mapping, ...allFields } }),
    ).toEqual([])
  })

  it.each([
    ['clientes', 'public', 'clientes'],
    ['crm.Clientes', 'crm', 'Clientes'],
    ['mis datos.año 1', 'mis datos', 'año 1'],
    ['"we.ird"."na ""me"', 'we.ird', 'na "me'],
    ['crm."a.b"', 'crm', 'a.b'],
  ])('reads the table name %s', (table, schema, name) => {
    expect(resolve({ customers: { table, key: 'id_cliente' } }).customers.relation).toEqual({ schema, name })
  })

  it('reads a view with the tables behind it', () => {
    const config = resolve({
      customers: { view: 'v', key: ['pais', 'numero'] },
      watch: [
        { table: 'clientes', key: ['pais', 'numero'] },
        { table: 'suscripciones', key: ['pais', 'cliente'], columns: ['plan'] },
      ],
      mapping: { user_id: { columns: ['pais', 'numero'], map: () => 'x' }, status: { value: 2 } },
    })
    expect(config.watch).toEqual([
      { relation: { schema: 'public', name: 'clientes' }, key: ['pais', 'numero'] },
      { relation: { schema: 'public', name: 'suscripciones' }, key: ['pais', 'cliente'], columns: ['plan'] },
    ])
  })
})

const status = (form: unknown) => ({ mapping: { ...minimal.mapping, status: form } })
const mapped = (fields: object) => ({ mapping: { ...minimal.mapping, ...fields } })
const watching = (...watch: object[]) => ({ watch })
const itself = { table: 'clientes', key: 'id_cliente' }

describe('a mistake in the configuration is named', () => {
  it.each<[string, object, string]>([
    ['an unknown key', { scop: 1 }, 'scop: unknown; did you mean scope?'],
    ['an unknown nested key', { pace: { cieling: 1 } }, 'pace.cieling: unknown; did you mean ceiling?'],
    ['a key like no other', { pace: { zzz: 1 } }, 'pace.zzz: unknown; expected one of ceiling, concurrency'],
    ['an unknown field', mapped({ emial: 'x' }), 'mapping.emial: unknown; did you mean email?'],
    [
      'a field in camel case',
      mapped({ firstName: 'x' }),
      'mapping.firstName: unknown; did you mean first_name?',
    ],
    ['no customers', { customers: undefined }, 'customers: expected an object, found nothing'],
    [
      'neither table nor view',
      { customers: { key: 'id_cliente' } },
      'customers: expected either a table or a view',
    ],
    [
      'table and view',
      { customers: { table: 'a', view: 'b', key: 'id_cliente' } },
      'customers: expected either a table or a view',
    ],
    [
      'a table name with three parts',
      { customers: { table: 'a.b.c', key: 'id_cliente' } },
      "customers.table: expected a table or view as schema.name, or name alone in the schema public, found 'a.b.c'",
    ],
    [
      'a name that Postgres would cut',
      { customers: { table: 'x'.repeat(64), key: 'id_cliente' } },
      'customers.table: expected a table or view as schema.name, or name alone in the schema public, found another text',
    ],
    [
      'an address where a name belongs, without repeating it',
      { customers: { table: 'postgres://ana:geheim@db.ana.es', key: 'id_cliente' } },
      'customers.table: expected a table or view as schema.name, or name alone in the schema public, found another text',
    ],
    [
      'no key',
      { customers: { table: 'clientes' } },
      'customers.key: expected a column or a list of columns, found nothing',
    ],
    [
      'a key column twice',
      {
        customers: { table: 'clientes', key: ['id_cliente', 'id_cliente'] },
        ...watching({ table: 'clientes', key: ['a', 'b'] }),
      },
      'customers.key: expected each column once, found a list',
    ],
    [
      'a view without watch',
      { customers: { view: 'v', key: 'id_cliente' } },
      'watch: expected the tables behind the view, with the columns that hold the customer key: [{ table, key }]',
    ],
    [
      'a view that is watched itself',
      { customers: { view: 'v', key: 'id_cliente' }, ...watching({ table: 'v', key: 'id_cliente' }) },
      'watch[0].table: expected a table: a view has no changes of its own, name the tables behind it',
    ],
    [
      'a table watched twice',
      watching(itself, { ...itself, table: 'public.clientes' }),
      'watch[1].table: expected each table once',
    ],
    [
      'another number of key columns',
      watching(itself, { table: 's', key: ['a', 'b'] }),
      'watch[1].key: expected one column, as many as customers.key has (id_cliente)',
    ],
    [
      'a watch list without the customer table',
      watching({ table: 's', key: 'a' }),
      'watch: expected the customer table among the watched ones: its own changes would be missed',
    ],
    ['an empty watch list', { watch: [] }, 'watch: expected at least one table, found an empty list'],
    [
      'no mapping',
      { mapping: undefined },
      'mapping: expected an object with a source for each field of the user, found nothing',
    ],
    ['no status', { mapping: { user_id: 'id_cliente' } }, 'mapping.status: missing; every user needs it'],
    ['a status that is undefined', status(undefined), 'mapping.status: missing; every user needs it'],
    ['no user_id', { mapping: { status: 'estado' } }, 'mapping.user_id: missing; every user needs it'],
    [
      'a user_id from another column',
      mapped({ user_id: { columns: ['id_cliente', 'correo'], map: () => '' } }),
      'mapping.user_id: expected key columns only (id_cliente), because a deleted row cannot be asked; found correo',
    ],
    [
      'a user_id that is the same for all',
      mapped({ user_id: { value: 'x' } }),
      'mapping.user_id: expected a key column (id_cliente): all customers would be one user',
    ],
    [
      'a status that does not exist',
      status({ value: 3 }),
      'mapping.status.value: expected 0, 2 or 4, found 3',
    ],
    [
      'a target that is no status',
      status({ column: 'plan', values: { free: 0, premium: 1 } }),
      'mapping.status.values.premium: expected 0, 2 or 4, found 1',
    ],
    [
      'a status that may be nothing',
      status({ column: 'plan', values: {}, otherwise: null }),
      'mapping.status.otherwise: expected 0, 2 or 4, found null',
    ],
    [
      'a target that is no gender',
      mapped({ gender: { column: 'sexo', values: { H: 'M' } } }),
      "mapping.gender.values.H: expected 0 (male) or 1 (female), found 'M'",
    ],
    [
      'a constant that is no country',
      mapped({ country_code: { value: 'ESP' } }),
      "mapping.country_code.value: expected an ISO 3166-1 alpha-2 country code, like ES, found 'ESP'",
    ],
    [
      'a constant that is undefined',
      mapped({ country_code: { value: undefined } }),
      'mapping.country_code.value: expected an ISO 3166-1 alpha-2 country code, like ES, found nothing',
    ],
    [
      'a value called null',
      status({ column: 'plan', values: { null: 0 } }),
      'mapping.status.values: expected values of the column as text; for an empty column write whenNull, found an object',
    ],
    [
      'a source of no known form',
      mapped({ email: { colunm: 'x' } }),
      'mapping.email: expected a column name, { column, values }, { value } or { columns, map }, found an object',
    ],
    [
      'a misspelt key of a value map',
      status({ column: 'plan', values: { free: 0 }, othrwise: 0 }),
      'mapping.status.othrwise: unknown; did you mean otherwise?',
    ],
    [
      'a function without columns',
      mapped({ email: { columns: [], map: () => '' } }),
      'mapping.email.columns: expected at least one column, found an empty list',
    ],
    [
      'an async function',
      mapped({ email: { columns: ['a'], map: async () => '' } }),
      'mapping.email.map: expected a function of these columns, not async and no generator, found a function',
    ],
    ['a scope of no known form', { scope: 'x' }, 'scope: expected { column, in } or { columns, when }'],
    [
      'an empty scope',
      { scope: { column: 'a', in: [] } },
      'scope.in: expected at least one value, found an empty list',
    ],
    [
      'a scope without a function',
      { scope: { columns: ['a'] } },
      'scope.when: expected a function that answers true or false, not async and no generator, found nothing',
    ],
    ['a word that is none', { unmanaged: 'kep' }, "unmanaged: expected 'keep' or 'clear', found 'kep'"],
    ['a flag that is none', { strict: 'yes' }, "strict: expected true or false, found 'yes'"],
    [
      'a clearing that is none',
      { clearWith: { email: 'nul' } },
      "clearWith.email: expected 'null' or 'empty' or 'omit', found 'nul'",
    ],
    [
      'a clearing of no field',
      { clearWith: { emial: 'null' } },
      'clearWith.emial: unknown; did you mean email?',
    ],
    [
      "'omit' without a PUT",
      { clearWith: { email: 'omit' }, ...mapped({ ...allFields, gender: undefined }) },
      "clearWith: 'omit' (email) needs full updates: map every field (missing: gender) or set unmanaged to 'clear'",
    ],
    [
      'a ceiling of nothing',
      { pace: { ceiling: 0 } },
      'pace.ceiling: expected a number of calls per second above 0, found 0',
    ],
    [
      'a broken number',
      { service: { timeoutMs: 1.5 } },
      'service.timeoutMs: expected a whole number from 1 to 2147483647, found 1.5',
    ],
    [
      'a lifetime without a grace',
      { timing: { lifetimeMs: 21_999 } },
      'timing.lifetimeMs: expected at least 22000: twice service.timeoutMs (10000), for a GET and a write, and a grace of 2000 or of service.timeoutMs, whichever is less; found 21999',
    ],
    [
      'a short lifetime without a grace',
      { service: { timeoutMs: 300 }, timing: { lifetimeMs: 899 } },
      'timing.lifetimeMs: expected at least 900: twice service.timeoutMs (300), for a GET and a write, and a grace of 2000 or of service.timeoutMs, whichever is less; found 899',
    ],
    [
      'a GET that is believed only after the lifetime',
      { timing: { lifetimeMs: 25_000, consistencyDelayMs: 25_001 } },
      'timing.consistencyDelayMs: expected at most timing.lifetimeMs (25000); found 25001',
    ],
    [
      'a longest wait below the first',
      { timing: { retryMinMs: 10, retryMaxMs: 9 } },
      'timing.retryMaxMs: expected at least timing.retryMinMs (10); found 9',
    ],
  ])('%s', (_, overrides, line) => {
    expect(mistakes({ ...minimal, ...overrides })).toEqual([`c.ts: ${line}`])
  })

  it.each([null, [], 'x', () => ({})])('no object at all: %s', (raw) => {
    expect(mistakes(raw)).toEqual(['c.ts: the default export is no configuration object'])
  })

  it('together with all others', () => {
    const wrong = {
      customers: { table: 'a.b.c', key: 'id' },
      mapping: { user_id: 'id', status: { value: 1 }, nope: 'x' },
      scope: {},
      clearWith: 'nothing',
      timing: { lifetimeMs: 1 },
      strict: 1,
    }
    expect(mistakes(wrong).map((line) => line.split(': ')[1])).toEqual([
      'customers.table',
      'mapping.status.value',
      'mapping.nope',
      'scope',
      'strict',
      'clearWith',
      'timing.lifetimeMs',
    ])
  })
})
