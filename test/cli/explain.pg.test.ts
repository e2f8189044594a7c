// `rollcall explain` against a real database and the sandbox: one GET, and no value is printed.
import { expect, test } from 'vitest'
import { rollcall } from '../support/command.ts'
import { buildHouse, CONFIG, type House, SECRETS } from '../support/house.ts'
import { postgres as lane } from '../support/lanes.ts'
import { KINDS } from '../support/presets.ts'
import { settleOnce } from '../support/settled-house.ts'

/** Column and value of a customer with every field; no value is a word of ours. */
const ROW = {
  ...{ correo: 'Leocadia@Zarzal.example', dni: '12345678Z', nombre: 'Leocadia' },
  ...{ apellidos: 'Zarzal Orio', sexo: 'm', nacido: '1987-03-09', movil: '612345678' },
  ...{ prefijo: '34', cobertura: 'dorada-7', contrato: 'K-99812', idioma: 'eu' },
  ...{ notas: 'prefers mornings', pais: 'ES', grupo: 'norte-3', grupo_medico: 'sur-5' },
}
const ELSEWHERE = 'elsewhere@zarzal.example'
const VALUES =
  'zarzal 12345678z leocadia 1987-03-09 612345678 dorada 99812 mornings norte sur-5 elsewhere'.split(' ')

type Env = Readonly<Record<string, string | undefined>>

async function diff(house: House, args: readonly string[], env: Env = {}) {
  const before = { tables: await tables(house), calls: house.calls().length }
  const { code, output } = await run(house, args, env)
  expect(output).not.toMatch(/^\s+at .+:\d+:\d+/m)
  for (const secret of Object.values(SECRETS)) expect(output).not.toContain(secret)
  if (!args.includes('--show-values'))
    for (const value of VALUES) expect(output.toLowerCase()).not.toContain(value)
  expect(await tables(house)).toBe(before.tables)
  const calls = house.calls().slice(before.calls)
  return { code, output, methods: calls.map(({ method }) => method) }
}

/** Without a queue; a variable that is undefined is not set. */
async function run({ authored, env: own }: House, args: readonly string[], env: Env = {}) {
  const all = Object.entries<string | undefined>({ ...own, QUEUE_URL: undefined, ...env })
  const set = all.filter((entry): entry is [string, string] => entry[1] !== undefined)
  return await rollcall({ authored, env: Object.fromEntries(set) }, 'explain', ...args)
}

/** All that rollcall owns but the pace, as text; an empty one where it is not installed. */
async function tables({ db }: House): Promise<string> {
  const { rows } = await db.sql<{ name: string }>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'rollcall' AND tablename <> 'pace' ORDER BY 1`,
  )
  const texts = []
  for (const { name } of rows) {
    const found = await db.sql(`SELECT t::text AS row FROM rollcall.${name} t ORDER BY 1`)
    texts.push(`${name}: ${found.rows.map((each) => each.row).join('\n')}`)
  }
  return texts.join('\n')
}

async function insert({ db }: House, id: string, over: Readonly<Record<string, string | null>> = {}) {
  const row = { id, plan: 'premium', ...ROW, ...over }
  const names = Object.keys(row)
  await db.sql(
    `INSERT INTO clientes (${names.join(', ')}) VALUES (${names.map((_, at) => `$${at + 1}`).join(', ')})`,
    Object.values(row),
  )
}

/** The row of a field: here, service, state, why. */
function row(output: string, field: string): string[] {
  const found = output.split('\n').find((said) => said.startsWith(`  ${field} `))
  return found?.trim().split(/ {2,}/).slice(1) ?? []
}

/** Unfolded, what stands under a label. */
function said(output: string, label: string): string {
  const text = output.replaceAll(/\n {12}(?=\S)/g, ' ')
  return (
    text
      .split('\n')
      .find((each) => each.startsWith(`  ${label.padEnd(9)} `))
      ?.slice(12) ?? ''
  )
}

test('in sync: nothing differs, one GET, nothing written, no value printed', async () => {
  await using house = await buildHouse(lane)
  await insert(house, '4711')
  await settleOnce(house)
  const { code, output, methods } = await diff(house, ['4711'])
  expect([code, methods]).toEqual([0, ['GET']])
  expect(row(output, 'status')).toEqual(['set', 'set', 'same'])
  expect(row(output, 'email')).toEqual(['set', 'set', 'same'])
  expect(row(output, 'mobile_phone')).toEqual(['set', 'set', 'same', 'in another form'])
  expect(row(output, 'mobile_phone_prefix')).toEqual(['set', 'set', 'same'])
  expect(row(output, 'country_code')).toEqual(['set', '–', 'not shown', 'acknowledged'])
  expect(said(output, 'next')).toMatch(/^nothing to send/)
  expect(said(output, 'result')).toMatch(/^same: .*country_code/)
  const quiet = await diff(house, ['4711', '--no-call'])
  expect([quiet.code, quiet.methods, said(quiet.output, 'result')]).toEqual([0, [], ''])
  expect(said(quiet.output, 'access')).toBe('unknown: the service was not asked')
})

test('edited at the service, changed here and owed, never delivered: each with its cause', async () => {
  await using house = await buildHouse(lane)
  for (const id of ['edited', 'owed', 'gone']) await insert(house, id)
  await settleOnce(house)
  house.sandbox.users.edit('edited', { email: ELSEWHERE, status: 0 })
  house.sandbox.users.delete('gone')
  await insert(house, 'new')
  await house.sql(`UPDATE clientes SET correo = 'elsewhere@zarzal.example', movil = '699000111',
    pais = 'PT' WHERE id = 'owed'`)

  const edited = await diff(house, ['edited'])
  expect([edited.code, edited.methods]).toEqual([3, ['GET']])
  for (const field of ['status', 'email'])
    expect(row(edited.output, field)).toEqual(['set', 'set', 'differs', 'changed at the service'])
  expect(said(edited.output, 'next')).toMatch(
    /^nothing, because .*\. `rollcall sync .* --lookup` would send: update \(PATCH\) with status, email$/,
  )
  expect(said(edited.output, 'to do')).toBe('run `rollcall sync edited --lookup`')
  expect(said(edited.output, 'result')).toBe('differs: status, email')

  const owed = await diff(house, ['owed'])
  expect([owed.code, owed.methods]).toEqual([3, ['GET']])
  for (const field of ['email', 'mobile_phone'])
    expect(row(owed.output, field)).toEqual(['set', 'set', 'differs', 'row or mapping changed'])
  expect(row(owed.output, 'mobile_phone_prefix')[2]).not.toBe('differs')
  expect(row(owed.output, 'country_code').at(-1)).toBe('row or mapping changed')
  expect(said(owed.output, 'sync')).toMatch(/^owed: .*captured .* ago/)
  expect(said(owed.output, 'next')).toMatch(
    /^update \(PATCH\) with status, email, mobile_phone, country_code(;|$)/,
  )

  const gone = await diff(house, ['gone', 'new', 'gone'])
  expect([gone.code, gone.methods]).toEqual([3, ['GET', 'GET']])
  const [first = '', second = ''] = gone.output.split(/\n(?=customer )/)
  expect(said(first, 'cause')).toMatch(/^changed at the service: the service once had the/)
  expect(said(second, 'cause')).toMatch(/^never delivered: the service has never/)
  expect(said(second, 'next')).toMatch(/^create \(POST\) with user_id, status, email/)
  expect(said(second, 'result')).toMatch(/^differs: not registered/)
})

test('a refused value, one that cannot be sent and an unmanaged field are each reported', async () => {
  const { md_group_name: _unmanaged, country_code: _unseen, ...mapping } = CONFIG.mapping
  await using house = await buildHouse(lane, {
    config: { mapping: mapping as typeof CONFIG.mapping },
    contract: KINDS['refusal-details'],
  })
  await insert(house, 'c', { dni: '12345678A' })
  await settleOnce(house)
  house.sandbox.users.edit('c', { md_group_name: 'elsewhere' })
  const { code, output } = await diff(house, ['c'])
  expect(code).toBe(3)
  expect(row(output, 'description')).toEqual(['set', 'empty', 'left out', 'refused'])
  expect(row(output, 'nid_number')).toEqual(['–', 'empty', 'left out', 'invalid'])
  expect(row(output, 'md_group_name')).toEqual(['–', 'set', 'unmanaged'])
  expect(row(output, 'country_code')).toEqual(['–', '–', 'unmanaged'])
  expect(said(output, 'to do')).toMatch(/^check and correct .*description/)
})

test('removed, out of scope, unmappable, ended trial: each a clear sentence', async () => {
  await using house = await buildHouse(lane, { config: { scope: { column: 'interno', in: ['no'] } } })
  for (const id of ['removed', 'ended']) await insert(house, id, { interno: 'no' })
  await house.sql(`UPDATE clientes SET plan = 'trial' WHERE id = 'ended'`)
  await settleOnce(house)
  await house.sql(`DELETE FROM clientes WHERE id = 'removed'`)
  house.sandbox.users.edit('ended', { status: 0 })
  await insert(house, 'outside', { interno: 'si' })
  await insert(house, 'odd', { interno: 'no', plan: 'dorada-7' })
  house.sandbox.users.set('outside', { status: 2, email: ELSEWHERE })

  const removed = await diff(house, ['removed'])
  expect(removed.code).toBe(3)
  expect(said(removed.output, 'desired')).toMatch(/^no access: .*row/)
  expect(row(removed.output, 'status')).toEqual(['set', 'set', 'differs', 'row or mapping changed'])
  expect(row(removed.output, 'email')).toEqual([])
  expect(said(removed.output, 'next')).toMatch(/^revoke .*PATCH/)

  const outside = await diff(house, ['outside'])
  expect([outside.code, said(outside.output, 'result')]).toEqual([
    0,
    expect.stringMatching(/^not compared: .*manages no user/),
  ])
  expect(said(outside.output, 'next')).toMatch(/^nothing to send \(.*never in scope/)
  const odd = await diff(house, ['odd'])
  expect([odd.code, said(odd.output, 'result')]).toEqual([
    3,
    'cannot be sent: the mapping cannot build a user from the row (status)',
  ])
  expect(said(odd.output, 'desired')).toContain('cannot be mapped: status (not-in-values)')
  const ended = await diff(house, ['ended'])
  expect([ended.code, row(ended.output, 'status')[2]]).toEqual([0, 'trial ended'])
  expect(said(ended.output, 'result')).toMatch(/trial/)
  expect((await diff(house, ['nobody'])).code).toBe(0)
})

test('without the digest key, or without a ledger, nothing is said of the cause', async () => {
  await using house = await buildHouse(lane)
  await insert(house, 'c')
  await settleOnce(house)
  house.sandbox.users.edit('c', { email: ELSEWHERE })
  const keyless = await diff(house, ['c'], { ROLLCALL_DIGEST_KEY: undefined })
  expect([keyless.code, keyless.methods]).toEqual([3, ['GET']])
  expect(row(keyless.output, 'email')).toEqual(['set', 'set', 'differs'])
  expect(said(keyless.output, 'next')).toContain('ROLLCALL_DIGEST_KEY')
  for (const call of [[], ['--no-call']]) {
    const other = await diff(house, ['c', ...call], {
      ROLLCALL_DIGEST_KEY: 'another-digest-key-of-32-characters',
    })
    expect(other.output.replaceAll(/\s+/g, ' ')).toMatch(/another target \(/)
    expect(said(other.output, 'next')).toMatch(/^not known/)
  }
  await house.sql('DROP SCHEMA rollcall CASCADE')
  const bare = await diff(house, ['c'])
  expect(bare.code).toBe(3)
  expect(row(bare.output, 'status')).toEqual(['set', 'set', 'same'])
  expect(row(bare.output, 'email')).toEqual(['set', 'set', 'differs'])
  expect(said(bare.output, 'next')).toMatch(/^not known: rollcall cannot use its records/)
})

test('values are shown when they are asked for, and obeyed by no terminal; as JSON too', async () => {
  await using house = await buildHouse(lane)
  await insert(house, 'c', { notas: 'a\u001b[2Jb\u009b\u202e' })
  await settleOnce(house)
  house.sandbox.users.edit('c', { email: ELSEWHERE })
  const plain = await diff(house, ['c', '--show-values'])
  expect(plain.code).toBe(3)
  expect(plain.output).toMatch(
    /^ {2}email +desired +"Leocadia@Zarzal\.example"\n +service +"elsewhere@zarzal\.example"$/m,
  )
  expect(plain.output).toMatch(/^ {2}country_code +desired +"ES"\n +service +not shown$/m)
  expect(plain.output).toMatch(/^ {2}first_name +both +"Leocadia"$/m)
  expect(plain.output).toContain('"a\\u001b[2Jb\\u009b\\u202e"')
  expect(plain.output).not.toMatch(/[^\n\P{Cc}]|\u202e/u)

  const json = await diff(house, ['c', '--json'])
  const [customer] = JSON.parse(json.output).customers
  expect([json.code, customer.result, customer.fields.length]).toEqual([3, 'differs', 16])
  expect(customer.fields[1]).toEqual({
    ...{ field: 'email', here: 'set', service: 'set', state: 'differs' },
    ...{ cause: 'edited-at-service', issue: null },
  })
  expect(customer.planAfterLookup).toMatchObject({ kind: 'patch', sends: ['status', 'email'] })
  const shown = await diff(house, ['c', '--json', '--show-values'])
  expect(JSON.parse(shown.output).customers[0].fields[1].values).toEqual({
    here: ROW.correo,
    service: ELSEWHERE,
  })
  expect(shown.output).not.toMatch(/[^\n\P{Cc}]|\u202e/u)
})

test('a wrong call is refused before anything is asked', async () => {
  await using house = await buildHouse(lane)
  for (const args of [['--calls', '0', 'c'], []]) {
    const { code, methods } = await diff(house, args)
    expect([args, code, methods]).toEqual([args, 2, []])
  }
  expect((await diff(house, ['c'], { SERVICE_API_KEY: undefined })).code).toBe(2)
  expect(house.calls()).toEqual([])
})

test('explain shows all of it at once, and without a call where none is wanted', async () => {
  await using house = await buildHouse(lane)
  await insert(house, 'c')
  await settleOnce(house)
  house.sandbox.users.edit('c', { email: ELSEWHERE, status: 0 })
  const all = await run(house, ['c'])
  expect(all.code).toBe(3)
  for (const value of VALUES) expect(all.output.toLowerCase()).not.toContain(value)
  for (const each of all.output.split('\n').filter((text) => !/^\S/.test(text) && !text.includes('worker')))
    expect(each.length).toBeLessThanOrEqual(80)
  expect(row(all.output, 'status')).toEqual(['set', 'set', 'differs', 'changed at the service'])
  expect(said(all.output, 'state')).toMatch(/^settled/)
  expect(all.output).toMatch(/POST +201 .* create .* done/)
  expect(said(all.output, 'next')).toContain('--lookup` would send: update (PATCH) with status, email')
  expect(said(all.output, 'to do')).toBe('run `rollcall sync c --lookup`')
  expect(said(all.output, 'result')).toBe('differs: status, email')
  expect(said(all.output, 'access')).toMatch(/^no: registered/)

  const before = house.calls().length
  const quiet = await run(house, ['c', '--no-call', '--json'], { SERVICE_URL: undefined })
  expect(house.calls()).toHaveLength(before)
  expect(quiet.code).toBe(0)
  expect(JSON.parse(quiet.output)).toMatchObject({
    target: null,
    customers: [{ key: 'c', service: { why: 'not-wanted' }, plan: { kind: 'none' }, planAfterLookup: null }],
  })
})
