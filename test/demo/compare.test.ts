import { expect, test } from 'vitest'
import { resolveConfig } from '../../src/config/resolve.ts'
import demoConfig from '../../src/demo/rollcall.config.ts'
import { compareDemo } from '../../src/demo/summary.ts'
import { makeUsers, type UserEdit } from '../../src/sandbox/users/users.ts'

const config = resolveConfig(demoConfig, 'config.ts')

const ROW = {
  ...{ id: 'C-0001', nombre: 'Ana', apellido1: 'García', apellido2: null },
  ...{ correo: 'ana@example.com', dni: '12345678Z', sexo: 'M', nacimiento: '1980-02-29' },
  ...{ movil: '600 100 037', pais: 'ES', idioma: 'es', grupo: null, notas: null, plan: 'premium' },
  contrato: '2020/1',
}
const USER = {
  ...{ status: 2, email: 'ana@example.com', nid_number: '12345678Z', first_name: 'Ana' },
  ...{ last_name: 'García', gender: 1, birthdate: '1980-02-29', mobile_phone: '600100037' },
  ...{ mobile_phone_prefix: '34', coverage_name: 'Premium', contract_number: '2020/1' },
  ...{ service_language_code: 'es', country_code: 'ES' },
}

type Case = { readonly row?: object | null; readonly user?: UserEdit | null }

function compare({ row = {}, user = {} }: Case) {
  const users = makeUsers()
  if (user !== null) users.set('C-0001', { ...USER, ...user })
  const rows = new Map(row === null ? [] : [['C-0001', { ...ROW, ...row }]])
  return compareDemo(config, rows, users.all())
}

test('a customer whose user holds every field agrees', () => {
  expect(compare({})).toEqual({ customers: 1, former: 0, differences: [] })
  expect(compare({ row: null, user: { status: 0 } }).differences).toEqual([])
})

test.each<[string, Case, readonly string[]]>([
  ['a missing user', { user: null }, ['there is no such user']],
  ['another value', { user: { email: 'eva@example.com' } }, ['email']],
  ['a value that should have been cleared', { row: { movil: null } }, ['mobile_phone']],
  ['a country, which no GET shows', { user: { country_code: 'PT' } }, ['country_code']],
  ['a deleted customer who still has access', { row: null }, ['still has access']],
])('%s is found', (_what, given, differs) => {
  expect(compare(given).differences).toEqual([{ key: 'C-0001', differs }])
})
