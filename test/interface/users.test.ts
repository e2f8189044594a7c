import { expect } from 'vitest'
import { FORMATS } from '../../src/model/formats.ts'
import { sameField } from '../../src/model/normal.ts'
import { OPTIONAL_FIELDS, type OptionalField, STATUSES } from '../../src/model/user.ts'
import { section } from './section.ts'
import { choices, openScene, USER } from './support.ts'

const scene = await openScene()

const ONE = `/s2s/v1/users/${USER}`
const held = () => scene.sandbox.users.get(USER)

async function send(method: 'POST' | 'PUT' | 'PATCH', body: object) {
  const sent = await scene.ask(method === 'POST' ? '/s2s/v1/users' : ONE, { method, body })
  return { status: sent.status, refused: Object.keys((sent.json as Refusal).error?.fields ?? {}) }
}
type Refusal = { readonly error?: { readonly fields?: object } }

async function shown(): Promise<Record<string, unknown>> {
  return (await scene.ask(ONE)).json as Record<string, unknown>
}

/**
 * A create sets it or leaves it out. PUT and PATCH set it; a PATCH without it keeps it; null and a PUT without it
 * clear it.
 */
function optional(field: OptionalField, good: readonly (string | number)[], bad: readonly unknown[]) {
  return async () => {
    expect(held()?.[field]).toBeNull()
    for (const value of good) {
      scene.sandbox.users.delete(USER)
      expect(await send('POST', { user_id: USER, status: 2, [field]: value })).toMatchObject({ status: 201 })
      expect(held()?.[field]).toBe(value)
      if (field !== 'country_code') expect(await shown()).toHaveProperty(field, value)
      await scene.users.updateUser(USER, { status: 0 })
      expect(held()?.[field]).toBe(value)
      await scene.users.updateUser(USER, { status: 2, [field]: null })
      expect(held()?.[field]).toBeNull()
      await scene.users.updateUser(USER, { status: 2, [field]: value })
      expect(held()?.[field]).toBe(value)
      await scene.users.replaceUser(USER, { status: 2 })
      expect(held()?.[field]).toBeNull()
      await scene.users.replaceUser(USER, { status: 2, [field]: value })
      expect(held()?.[field]).toBe(value)
    }
    for (const value of bad) {
      for (const method of ['PUT', 'PATCH'] as const) {
        expect(await send(method, { status: 2, [field]: value })).toEqual({ status: 422, refused: [field] })
      }
      const another = { user_id: 'another', status: 2, [field]: value }
      expect(await send('POST', another)).toEqual({ status: 422, refused: [field] })
      // Whatever the mapping makes of it, a value or nothing, fits.
      const written = FORMATS[field].parse(value)
      const body = { status: 2, ...(written.ok ? { [field]: written.value } : {}) }
      expect(await send('PATCH', body)).toMatchObject({ status: 200 })
    }
  }
}

const freeText = (field: OptionalField) => optional(field, ['Plan Ñandú 24/7', 'x'], [5, true, {}])

section('2.6', {
  user_id: async () => {
    for (const userId of ['4711', 'a/b c', 'ñ@x', '../x']) {
      expect(await send('POST', { user_id: userId, status: 2 })).toMatchObject({ status: 201 })
      expect(scene.sandbox.users.get(userId)?.user_id).toBe(userId)
    }
    expect(await send('POST', { status: 2 })).toEqual({ status: 422, refused: ['user_id'] })
    expect(await send('POST', { user_id: 4711, status: 2 })).toEqual({ status: 422, refused: ['user_id'] })
    for (const method of ['PUT', 'PATCH'] as const) {
      expect(await send(method, { user_id: USER, status: 2 })).toEqual({ status: 422, refused: ['user_id'] })
    }
  },
  status: async () => {
    expect(STATUSES).toEqual([0, 2, 4])
    for (const status of STATUSES) {
      expect(await send('POST', { user_id: `new-${status}`, status })).toMatchObject({ status: 201 })
      expect(scene.sandbox.users.get(`new-${status}`)?.status).toBe(status)
      for (const method of ['PUT', 'PATCH'] as const) {
        expect(await send(method, { status })).toMatchObject({ status: 200 })
        expect((await shown()).status).toBe(status)
      }
    }
    for (const status of [undefined, null, 1, 3, 5, '2', true]) {
      expect(await send('POST', { user_id: 'x', status })).toEqual({ status: 422, refused: ['status'] })
      for (const method of ['PUT', 'PATCH'] as const) {
        expect(await send(method, { status })).toEqual({ status: 422, refused: ['status'] })
      }
    }
  },
  email: async () => {
    await optional('email', ['ana@example.com', 'Ana.Gil+x@Example.org'], ['ana', 'ana@', '@x.es', 5])()
    for (const email of choices('email')) {
      await scene.become({ email })
      expect(sameField('email', { email: 'Ana.Gil+x@Example.org' }, await shown())).toBe(true)
    }
  },
  nid_number: optional('nid_number', ['12345678Z', 'X1234567L'], ['12345678A', 'X1234567A', 'passport', 5]),
  first_name: freeText('first_name'),
  last_name: freeText('last_name'),
  gender: optional('gender', [0, 1], [2, -1, 'male', true]),
  birthdate: optional(
    'birthdate',
    ['1980-02-29', '2001-12-31'],
    ['1981-02-29', '31/12/2001', '2001-12-31T10:00', 5],
  ),
  mobile_phone: optional('mobile_phone', ['612345678'], ['call me', '12', 612345678]),
  mobile_phone_prefix: optional('mobile_phone_prefix', ['34', '351'], ['ES', '12345', 34]),
  coverage_name: freeText('coverage_name'),
  contract_number: freeText('contract_number'),
  service_language_code: optional('service_language_code', ['es', 'ca', 'en'], ['spanish', 'zz', 5]),
  description: async () => {
    await freeText('description')()
    await scene.users.updateUser(USER, { status: 2, description: null })
    expect((await shown()).description).toBeNull()
  },
  country_code: optional('country_code', ['ES', 'PT'], ['ESP', 'ZZ', '34', 5]),
  ml_group_name: async () => {
    await freeText('ml_group_name')()
    const seen = async () =>
      (await scene.askAs(USER, '/chat/professionals')).map(({ professional_id: id }) => id)
    await scene.users.updateUser(USER, { status: 2, ml_group_name: null })
    expect(await seen()).not.toContain('pro-generalist-gold')
    await scene.users.updateUser(USER, { status: 2, ml_group_name: 'gold' })
    expect(await seen()).toContain('pro-generalist-gold')
  },
  md_group_name: async () => {
    await freeText('md_group_name')()
    const before = await scene.askAs(USER, '/chat/professionals')
    await scene.users.updateUser(USER, { status: 2, md_group_name: 'gold' })
    expect(await scene.askAs(USER, '/chat/professionals')).toEqual(before)
  },
  'rule 1': async () => {
    const fields = ['user_id', 'status', ...OPTIONAL_FIELDS.filter((field) => field !== 'country_code')]
    expect(fields).toHaveLength(16)
    await scene.users.updateUser(USER, { status: 2, country_code: 'ES' })
    expect(Object.keys(await shown()).sort()).toEqual(fields.sort())
  },
  'rule 2': async () => {
    for (const country of ['es', 'ES']) {
      expect(await send('PATCH', { status: 2, country_code: country })).toMatchObject({ status: 200 })
      expect(held()?.country_code).toBe(country)
      expect(FORMATS.country_code.parse(country)).toEqual({ ok: true, value: 'ES' })
    }
  },
  'rule 3': async () => {
    const phone = { mobile_phone: '612345678', mobile_phone_prefix: '34' }
    await scene.users.updateUser(USER, { status: 2, ...phone })
    expect(await shown()).toMatchObject({ mobile_phone: '34612345678', mobile_phone_prefix: '34' })
    expect(held()).toMatchObject(phone)
    for (const form of choices('phone')) {
      await scene.become({ phone: form })
      const remote = await shown()
      for (const field of ['mobile_phone', 'mobile_phone_prefix'] as const) {
        expect([form, field, sameField(field, phone, remote)]).toEqual([form, field, true])
        expect(sameField('mobile_phone', { ...phone, mobile_phone: '612345679' }, remote)).toBe(false)
      }
    }
  },
})
