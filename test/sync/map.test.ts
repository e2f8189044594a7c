import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Config } from '../../src/config/config.ts'
import type { Clock, RollcallConfig } from '../../src/config/define.ts'
import { resolveConfig } from '../../src/config/resolve.ts'
import { TooLarge } from '../../src/config/source.ts'
import { keyOf } from '../../src/customers/key.ts'
import { OPTIONAL_FIELDS, USER_FIELDS } from '../../src/model/user.ts'
import { type Mapped, mapCustomer, validUntilOf } from '../../src/sync/map.ts'
import { anyText } from '../support/arbitrary.ts'
import { KEY, makeCustomer } from '../support/pure-claims.ts'
import { runs } from '../support/size.ts'

const base: RollcallConfig = {
  customers: { table: 'clientes', key: 'id' },
  mapping: { user_id: 'id', status: { column: 'plan', values: { free: 0, premium: 2, trial: 4 } } },
}

type Mapping = Record<string, unknown>

const NOW = new Date('2026-11-20T12:00:00Z')
const TIMED = USER_FIELDS.filter((field) => field !== 'user_id')

function configOf(mapping: Mapping, rest: object = {}): Config {
  return resolveConfig({ ...base, ...rest, mapping: { ...base.mapping, ...mapping } }, 'c.ts')
}

function map(mapping: Mapping, row: Record<string, unknown>, rest: object = {}): Mapped {
  return mapCustomer(configOf(mapping, rest), { key: '7', row: { id: 7, plan: 'premium', ...row }, now: NOW })
}

/** The optional fields and the issues of a customer who is a user. */
function fieldsOf(mapping: Mapping, row: Record<string, unknown>, rest: object = {}) {
  const mapped = map(mapping, row, rest)
  if (mapped.kind !== 'user') throw new Error(`expected a user, got ${JSON.stringify(mapped)}`)
  return { ...mapped.user.fields, issues: mapped.issues.map(({ field, code }) => `${field} ${code}`) }
}

describe('mapCustomer', () => {
  it('makes nothing of a column whose value was not read for its size, not even by a function', () => {
    const large = new TooLarge(8192)
    const called = { columns: ['notas', 'correo'], map: () => 'x' }
    const mapping = { email: 'correo', description: 'notas', last_name: called, first_name: 'nombre' }
    expect(fieldsOf(mapping, { correo: 'a@b.es', notas: large, nombre: 'Ana' })).toEqual({
      email: 'a@b.es',
      first_name: 'Ana',
      issues: ['last_name invalid', 'description invalid'],
    })
    const status = { column: 'plan', values: { premium: 2 }, otherwise: 0 }
    expect(map({ status }, { plan: large })).toMatchObject({
      kind: 'rejected',
      issues: [{ field: 'status', code: 'invalid', expected: expect.stringContaining('8192 bytes') }],
    })
    for (const scope of [
      { column: 'zona', in: ['norte'] },
      { columns: ['zona'], when: () => true },
    ])
      expect(map({}, { zona: large }, { scope })).toMatchObject({
        kind: 'rejected',
        issues: [{ field: 'scope', code: 'invalid' }],
      })
  })

  it('gives null to a managed field without a value, and nothing to one that is not managed', () => {
    expect(fieldsOf({ email: 'correo', last_name: 'apellidos' }, { correo: '', apellidos: null })).toEqual({
      email: null,
      last_name: null,
      issues: [],
    })
  })

  it('leaves an invalid optional field out and says why', () => {
    expect(map({ email: 'correo', nid_number: 'dni' }, { correo: 'ninguno', dni: '12345678A' })).toEqual({
      kind: 'user',
      user: { userId: '7', status: 2, fields: {} },
      issues: [
        { field: 'email', code: 'invalid', expected: 'an e-mail address' },
        { field: 'nid_number', code: 'invalid', expected: expect.stringContaining('DNI or NIE') },
      ],
    })
  })

  it('rejects the customer for it where the configuration is strict', () => {
    const mapped = map({ email: 'correo' }, { correo: 'ninguno' }, { strict: true })
    expect(mapped).toMatchObject({ kind: 'rejected', userId: '7', issues: [{ field: 'email' }] })
    expect(map({ email: 'correo' }, { correo: null }, { strict: true }).kind).toBe('user')
  })

  it.each([
    ['gold', 'not-in-values', 'one of free, premium, trial'],
    [null, 'missing', '0, 2 or 4'],
  ])('rejects a customer whose status cannot be mapped: plan %s', (plan, code, expected) => {
    const issue = { field: 'status', code, expected }
    expect(map({}, { plan })).toEqual({ kind: 'rejected', userId: '7', issues: [issue] })
  })

  it.each<[string, unknown]>([
    ['throws', () => JSON.parse('{')],
    ['answers with a promise', () => Promise.resolve('x')],
    ['reads a column that it does not name', (row: Mapping) => row.correo],
  ])('records a function that %s', (_, call) => {
    const mapped = fieldsOf({ first_name: { columns: ['plan'], map: call } }, { correo: 'a@x.es' })
    expect(mapped).toEqual({ issues: ['first_name function-failed'] })
  })

  it('calls a row that is gone removed, whatever the scope', () => {
    const config = configOf({}, { scope: { columns: ['plan'], when: () => false } })
    expect(mapCustomer(config, { key: '7', row: null, now: NOW })).toEqual({ kind: 'removed', userId: '7' })
  })
})

describe('the user_id', () => {
  it('comes from the key alone, as Postgres prints it', () => {
    const config = configOf({})
    const mapped = mapCustomer(config, { key: '007', row: { id: 7, plan: 'free' }, now: NOW })
    expect(mapped).toMatchObject({ kind: 'user', user: { userId: '007', status: 0 } })
  })

  const composite = {
    customers: { table: 'clientes', key: ['pais', 'numero'] },
    mapping: {
      user_id: { columns: ['numero', 'pais'], map: (row: Mapping) => `${row.pais}-${row.numero}` },
      status: { value: 2 },
    },
  }

  it('comes from the parts of a composite key', () => {
    const config = resolveConfig(composite, 'c.ts')
    expect(mapCustomer(config, { key: '["ES", "012"]', row: null, now: NOW })).toEqual({
      kind: 'removed',
      userId: 'ES-012',
    })
  })

  it.each(['ES', '["ES"]', '["ES", null]'])('rejects a key that has not all parts: %s', (key) => {
    expect(mapCustomer(resolveConfig(composite, 'c.ts'), { key, row: null, now: NOW })).toEqual({
      kind: 'rejected',
      userId: null,
      issues: [{ field: 'user_id', code: 'invalid', expected: 'a customer key of 2 texts' }],
    })
  })

  it.each(['', '.', '..', 'a\nb', 'x'.repeat(256)])('rejects the key %j', (key) => {
    const mapped = mapCustomer(configOf({}), { key, row: { id: key, plan: 'free' }, now: NOW })
    expect(mapped).toMatchObject({ kind: 'rejected', userId: null, issues: [{ field: 'user_id' }] })
  })
})

describe('the scope', () => {
  const outside = { kind: 'out-of-scope', userId: '7' }

  it.each<[unknown, boolean]>([
    ['ES', true],
    ['ES  ', true],
    [34, true],
    ['PT', false],
    [null, false],
    [['ES'], false],
  ])('is a list of texts: %j is in it: %s', (pais, inside) => {
    const mapped = map({}, { pais }, { scope: { column: 'pais', in: ['ES', 34] } })
    if (inside) expect(mapped.kind).toBe('user')
    else expect(mapped).toEqual(outside)
  })

  it('is asked before the status', () => {
    expect(map({}, { plan: 'gold' }, { scope: { column: 'plan', in: ['free'] } })).toEqual(outside)
  })

  it.each<[string, () => unknown]>([
    ['throws', () => JSON.parse('{')],
    ['answers with null', () => null],
    ['answers with a promise', () => Promise.resolve(true)],
  ])('takes access from no customer when its function %s', (_, when) => {
    const mapped = map({}, {}, { scope: { columns: ['plan'], when } })
    expect(mapped).toMatchObject({
      kind: 'rejected',
      userId: '7',
      issues: [{ field: 'scope', code: 'function-failed' }],
    })
  })
})

describe('the time', () => {
  const LATER = '2026-12-01T00:00:00Z'
  const LATER_MS = Date.parse(LATER)
  /** Premium until a time in the row, free from then on. */
  const premiumUntil = {
    columns: ['premium_until'],
    map: ({ premium_until }: Mapping, { now }: Clock) => {
      const until = new Date(String(premium_until))
      return until > now ? { value: 2, validUntil: until } : { value: 0, validUntil: null }
    },
  }

  it('comes with until when the answer holds', () => {
    expect(map({ status: premiumUntil }, { premium_until: LATER })).toEqual({
      kind: 'user',
      user: { userId: '7', status: 2, fields: {} },
      issues: [],
      validUntilMs: LATER_MS,
    })
  })

  const readsOnly = { columns: ['plan'], map: (_: Mapping, { now }: Clock) => now.getFullYear() }

  it('that was read must come with an end: else an optional field is left out, and a status rejects', () => {
    const expected = expect.stringContaining('{ value, validUntil }')
    const issue = (field: string) => ({ field, code: 'function-failed', expected })
    expect(map({ description: readsOnly }, {})).toEqual({
      kind: 'user',
      user: { userId: '7', status: 2, fields: {} },
      issues: [issue('description')],
    })
    expect(map({ status: readsOnly }, {})).toEqual({
      kind: 'rejected',
      userId: '7',
      issues: [issue('status')],
    })
  })

  it.each<[string, unknown, string]>([
    ['cannot be read', 'soon', 'a `validUntil` that is a Date'],
    ['has passed', '2026-11-20T12:00:00Z', 'a `validUntil` after'],
  ])('is no end when it %s', (_, validUntil, words) => {
    const mapped = map({ email: { columns: ['plan'], map: () => ({ value: 'a@x.es', validUntil }) } }, {})
    const expected = expect.stringContaining(words)
    expect(mapped).toMatchObject({ issues: [{ field: 'email', code: 'function-failed', expected }] })
    expect(mapped).not.toHaveProperty('validUntilMs')
  })

  const member = (value: unknown, validUntil: string | null) => ({
    scope: { columns: ['plan'], when: () => ({ value, validUntil }) },
  })

  it.each<[string, object, string]>([
    [
      'reads it and says no end',
      { when: (_: Mapping, { now }: Clock) => now > NOW },
      'because the function asks',
    ],
    ['answers with null for a time', member(null, LATER).scope, 'true or false, no promise'],
    ['says an end that has passed', member(false, '2020-01-01').scope, 'a `validUntil` after'],
  ])('takes access from no customer when the scope function %s', (_, scope, words) => {
    expect(map({}, {}, { scope: { columns: ['plan'], ...scope } })).toEqual({
      kind: 'rejected',
      userId: '7',
      issues: [{ field: 'scope', code: 'function-failed', expected: expect.stringContaining(words) }],
    })
  })

  it.each<[string, unknown]>([
    ['reads it', (_: Mapping, { now }: Clock) => `C-${now.getFullYear()}`],
    ['says an end', () => ({ value: 'C-7', validUntil: LATER })],
  ])('is none of the user_id: a function that %s fails, with a row and without', (_, call) => {
    const config = configOf({ user_id: { columns: ['id'], map: call } })
    for (const row of [null, { id: 7, plan: 'premium' }])
      expect(mapCustomer(config, { key: '7', row, now: NOW })).toMatchObject({
        kind: 'rejected',
        userId: null,
        issues: [{ field: 'user_id' }],
      })
  })

  it('of a claim is the time of the database at the claim, whatever the clock of this machine says', async () => {
    const config = configOf({ status: premiumUntil })
    const customer = makeCustomer({ config, row: { id: KEY, premium_until: '1999-12-31' } })
    const { version: _, record: __, ...kept } = customer.kept
    const claim = {
      ...{ id: '1', token: '1', key: KEY, version: '1', changedAtMs: null, generation: '1' },
      mayHaveWritten: false,
      ...kept,
    }
    const ending = await customer.claim({ claim: { ...claim, nowMs: Date.parse('1999-12-30T23:00:00.123') } })
    expect(ending).toMatchObject({
      next: { replanAtMs: Date.parse('1999-12-31') },
      record: { sentStatus: 2 },
    })
  })

  it('of the whole answer is the earliest of scope and fields', () => {
    const end = fc.option(fc.integer({ min: NOW.getTime() + 1, max: 4e12 }))
    const ends = fc.record({ scope: end, ...Object.fromEntries(TIMED.map((field) => [field, end])) })
    fc.assert(
      fc.property(ends, fc.boolean(), fc.boolean(), (given: Mapping, inside, strict) => {
        const held = (name: string, value: unknown) => ({
          columns: ['plan'],
          [name === 'scope' ? 'when' : 'map']: () => {
            const ms = given[name]
            return { value, validUntil: typeof ms === 'number' ? new Date(ms) : null }
          },
        })
        // One value in three is invalid: its time counts all the same.
        const mapping = Object.fromEntries(
          TIMED.map((field, i) => [field, held(field, field === 'status' ? 2 : i % 3 ? null : [])]),
        )
        const mapped = map(mapping, {}, { scope: held('scope', inside), strict })
        const counting = Object.entries(given).flatMap(([name, ms]) =>
          typeof ms === 'number' && (inside || name === 'scope') ? [ms] : [],
        )
        expect(mapped.kind).toBe(inside ? (strict ? 'rejected' : 'user') : 'out-of-scope')
        expect(validUntilOf(mapped)).toBe(counting.length > 0 ? Math.min(...counting) : null)
      }),
    )
  })
})

describe('the phone', () => {
  const phone = { mobile_phone: 'movil', mobile_phone_prefix: 'prefijo' }

  it('carries the prefix with + where the configuration says so', () => {
    const fields = fieldsOf(phone, { movil: '+34600123456', prefijo: '34' }, { phonePrefix: 'plus' })
    expect(fields).toEqual({ mobile_phone: '600123456', mobile_phone_prefix: '+34', issues: [] })
  })

  it('is left out when it belongs to another country than its prefix', () => {
    expect(fieldsOf(phone, { movil: '+351912345678', prefijo: '34' })).toEqual({
      mobile_phone_prefix: '34',
      issues: ['mobile_phone invalid'],
    })
  })
})

describe('a birthday', () => {
  afterEach(() => void vi.unstubAllEnvs())

  it.each(['Europe/Madrid', 'America/Los_Angeles', 'Pacific/Kiritimati'])(
    'is the day that stands there in %s',
    (tz) => {
      vi.stubEnv('TZ', tz)
      for (const day of ['1980-02-29', '1978-04-02', '1943-03-13', '2000-01-01']) {
        expect(fieldsOf({ birthdate: 'nacido' }, { nacido: day })).toEqual({ birthdate: day, issues: [] })
        expect(fieldsOf({ birthdate: 'nacido' }, { nacido: `${day} 00:00:00` })).toEqual({
          birthdate: day,
          issues: [],
        })
      }
    },
  )
})

it('every field is managed only when all fifteen optional ones are mapped', () => {
  const all = Object.fromEntries(OPTIONAL_FIELDS.map((field) => [field, field]))
  expect(configOf(all).fullyManaged).toBe(true)
  for (const field of OPTIONAL_FIELDS)
    expect(configOf({ ...all, [field]: undefined }).fullyManaged, field).toBe(false)
})

describe('whatever a row holds', () => {
  const mapping = Object.fromEntries(OPTIONAL_FIELDS.map((field) => [field, field]))
  /** No issue's own words can hold it by chance. */
  const MARK = 'żółw'
  /** Functions that fail, and whose error repeats what they were given. */
  const config = configOf(
    {
      ...mapping,
      first_name: { columns: ['email'], map: ({ email }: Mapping) => JSON.parse(String(email)) },
    },
    {
      scope: {
        columns: ['plan'],
        when: ({ plan }: Mapping) => {
          if (String(plan).startsWith(MARK)) throw new Error(String(plan))
          return plan !== 'free'
        },
      },
    },
  )
  const value = fc.oneof(
    fc.anything(),
    anyText,
    fc.string().map((text) => MARK + text),
    fc.constantFrom('free', 'premium', '+34600123456', '1980-02-30', '12345678A'),
  )
  const row = fc.dictionary(fc.constantFrom<string>('plan', ...USER_FIELDS), value)

  it('the mapping answers, and no issue holds a value', () => {
    fc.assert(
      fc.property(anyText, fc.option(row), (key, given) => {
        const mapped = mapCustomer(config, { key: keyOf([MARK + key]), row: given, now: NOW })
        if ('issues' in mapped) expect(JSON.stringify(mapped.issues)).not.toContain(MARK)
      }),
      { numRuns: runs(1000) },
    )
  })
})
