import { describe, expect, it } from 'vitest'
import type { Config } from '../../src/config/config.ts'
import type { RollcallConfig } from '../../src/config/define.ts'
import { resolveConfig } from '../../src/config/resolve.ts'
import { OPTIONAL_FIELDS } from '../../src/model/user.ts'
import { detailsOf } from '../support/details.ts'

const minimal: RollcallConfig = {
  customers: { table: 'clientes', key: 'id_cliente' },
  mapping: { user_id: 'id_cliente', status: 'estado' },
}

const allFields = Object.fromEntries(OPTIONAL_FIELDS.map((field) => [field, field]))

function resolve(overrides: Record<string, unknown> = {}): Config {
  return resolveConfig({ ...minimal, ...overrides }, '/app/rollcall.config.ts')
}

const mistakes = (raw: unknown) => detailsOf('CONFIG_INVALID', () => resolveConfig(raw, '/app/c.ts', 'c.ts'))

describe('resolveConfig', () => {
  it('errs on the side of the customers where nothing is said', () => {
    expect(resolve()).toMatchObject({
      customers: { rowSecurity: 'refuse', searchPath: [] },
      watch: [{ relation: { schema: 'public', name: 'clientes' }, key: ['id_cliente'] }],
      ...{ scope: null, unmanaged: 'keep', onRemove: 'revoke', createWithoutAccess: true },
      service: { environment: 'production', allowPlainHttp: false },
      brake: { changes: { customers: 100, share: 0.01 }, creates: { customers: 10_000, share: 0.1 } },
      reconcile: { periodMs: 604_800_000, mode: 'report' },
    })
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
const timed = (timing: object) => ({ advanced: { timing } })
const watching = (...watch: object[]) => ({ watch })
const itself = { table: 'clientes', key: 'id_cliente' }

describe('a mistake in the configuration is named', () => {
  it.each<[string, object, string, string]>([
    ['an unknown key', { scop: 1 }, 'scop', 'scope?'],
    ['one that belongs under advanced', { timing: {} }, 'timing', 'mean advanced.timing?'],
    ['an unknown key of a section that is changed', timed({ gapsMs: 1 }), 'advanced.timing.gapsMs', 'gapMs?'],
    ['one of reconcile', { reconcile: { zzz: 1 } }, 'reconcile.zzz', 'one of period, mode, keepDays'],
    ['an unknown field', mapped({ emial: 'x' }), 'mapping.emial', 'email?'],
    [
      'a misspelt key',
      { customers: { table: 'c', key: 'cliente' } },
      'mapping.user_id',
      'customers.key (cliente)',
    ],
    ['neither table nor view', { customers: { key: 'id_cliente' } }, 'customers', 'either `table`'],
    [
      'a table name with three parts',
      { customers: { table: 'a.b.c', key: 'id_cliente' } },
      'customers.table',
      "found 'a.b.c'",
    ],
    [
      'an address where a name belongs, without repeating it',
      { customers: { table: 'postgres://ana:geheim@db.ana.es', key: 'id_cliente' } },
      'customers.table',
      'in the schema public',
    ],
    [
      'a key column twice',
      {
        customers: { table: 'clientes', key: ['id_cliente', 'id_cliente'] },
        ...watching({ table: 'clientes', key: ['a', 'b'] }),
      },
      'customers.key',
      'each column once',
    ],
    ['a view without watch', { customers: { view: 'v', key: 'id_cliente' } }, 'watch', '[{ table, key }]'],
    [
      'a view that is watched itself',
      { customers: { view: 'v', key: 'id_cliente' }, ...watching({ table: 'v', key: 'id_cliente' }) },
      'watch[0].table',
      'cannot watch a view',
    ],
    [
      'a table watched twice',
      watching(itself, { ...itself, table: 'public.clientes' }),
      'watch[1].table',
      'once',
    ],
    [
      'another number of key columns',
      watching(itself, { table: 's', key: ['a', 'b'] }),
      'watch[1].key',
      'one column',
    ],
    [
      'a watch list without the customer table',
      watching({ table: 's', key: 'a' }),
      'watch',
      'the customer table',
    ],
    ['no status', { mapping: { user_id: 'id_cliente' } }, 'mapping.status', 'every user needs it'],
    ['no user_id', { mapping: { status: 'estado' } }, 'mapping.user_id', 'every user needs it'],
    [
      'a user_id from another column',
      mapped({ user_id: { columns: ['id_cliente', 'correo'], map: () => '' } }),
      'mapping.user_id',
      'found correo',
    ],
    ['one user_id for all', mapped({ user_id: { value: 'x' } }), 'mapping.user_id', 'one user'],
    ['a status that does not exist', status({ value: 3 }), 'mapping.status.value', '0, 2 or 4, found 3'],
    [
      'a target that is no status',
      status({ column: 'plan', values: { free: 0, premium: 1 } }),
      'mapping.status.values.premium',
      '0, 2 or 4, found 1',
    ],
    [
      'a value called null',
      status({ column: 'plan', values: { null: 0 } }),
      'mapping.status.values',
      'whenNull',
    ],
    ['a source of no known form', mapped({ email: { colunm: 'x' } }), 'mapping.email', '{ columns, map }'],
    [
      'an async function',
      mapped({ email: { columns: ['a'], map: async () => '' } }),
      'mapping.email.map',
      'an async function',
    ],
    ['a scope of no known form', { scope: 'x' }, 'scope', '{ columns, when }'],
    ['an empty scope', { scope: { column: 'a', in: [] } }, 'scope.in', 'at least one'],
    ['a clearing that is none', { clearWith: { email: 'nul' } }, 'clearWith.email', "'omit'"],
    [
      "'omit' without a PUT",
      { clearWith: { email: 'omit' }, ...mapped({ ...allFields, gender: undefined }) },
      'clearWith',
      '(gender)',
    ],
    ['a ceiling of hardly anything', { pace: { ceiling: 0.09 } }, 'pace.ceiling', '0.1'],
    ['a broken number', { service: { timeoutMs: 1.5 } }, 'service.timeoutMs', 'whole number'],
    ['a lifetime without a grace', timed({ lifetimeMs: 21_999 }), 'advanced.timing.lifetimeMs', '22000'],
    [
      'a GET that is credible only after the lifetime',
      timed({ lifetimeMs: 25_000, consistencyDelayMs: 25_001 }),
      'advanced.timing.consistencyDelayMs',
      '25000',
    ],
    [
      'a longest wait below the first',
      timed({ retryMinMs: 10, retryMaxMs: 9 }),
      'advanced.timing.retryMaxMs',
      'advanced.timing.retryMinMs',
    ],
  ])('%s', (_, overrides, path, word) => {
    const [line = '', ...more] = mistakes({ ...minimal, ...overrides })
    expect([line.split(': ')[1], more]).toEqual([path, []])
    expect(line).toContain(word)
    expect(line).not.toContain('geheim')
  })

  it('a misspelt key, before the one that is missing for it', () => {
    const first = (mapping: object) =>
      mistakes({ ...minimal, mapping: { ...minimal.mapping, ...mapping } })[0]
    expect(first({ user_id: undefined, userid: 'id_cliente' })).toContain(
      'userid: unknown name; did you mean user_id?',
    )
    const misspelt = { status: { column: 'x', value: { a: 2 } } }
    expect(first(misspelt)).toContain('status.value: unknown name; did you mean values?')
  })

  it.each([null, [], 'x', () => ({})])('no object at all: %s', (raw) => {
    expect(mistakes(raw)).toEqual([expect.stringMatching(/^c\.ts: .*default export/)])
  })

  it('together with all others', () => {
    const wrong = {
      customers: { table: 'a.b.c', key: 'id' },
      mapping: { user_id: 'id', status: { value: 1 }, nope: 'x' },
      scope: {},
      clearWith: 'nothing',
      advanced: { timing: { lifetimeMs: 1 } },
      strict: 1,
    }
    expect(mistakes(wrong).map((line) => line.split(': ')[1])).toEqual([
      'customers.table',
      'mapping.nope',
      'mapping.status.value',
      'scope',
      'strict',
      'clearWith',
      'advanced.timing.lifetimeMs',
    ])
  })
})
