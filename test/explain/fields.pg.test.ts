import { expect, test } from 'vitest'
import { makeDigester } from '../../src/sync/digest.ts'
import { buildHouse, CUSTOMERS, SECRETS } from '../support/house.ts'
import { ask, lane, printed, register } from './house.ts'

const DIGEST = { digestKey: SECRETS.ROLLCALL_DIGEST_KEY }

test('a customer that cannot be mapped, or whose row cannot be read, is still asked for at the service', async () => {
  await using house = await buildHouse(lane, {
    sql: `CREATE TABLE t (id text PRIMARY KEY, plan text, por int DEFAULT 1);
      CREATE VIEW clientes AS SELECT id, plan, (10 / por)::text AS correo FROM t`,
    config: {
      customers: { view: 'clientes', key: 'id' },
      watch: [{ table: 't', key: 'id' }],
      mapping: { user_id: 'id', status: { column: 'plan', values: { premium: 2 } }, email: 'correo' },
      strict: false,
    },
  })
  await house.sql(`INSERT INTO t VALUES ('odd', 'gold', 1), ('zero', 'premium', 0)`)
  register(house, 'odd', 2)
  register(house, 'zero', 2)
  const odd = await ask(house, 'odd')
  expect(odd).toMatchObject({
    ...{ access: { can: 'yes' }, result: 'blocked', drift: null },
    remedies: [{ do: 'correct', waitMs: null }],
  })
  expect(printed(odd)).toMatch(/status \(not-in-values\), .*premium/)
  expect(printed(odd)).not.toContain('gold')
  const zero = await ask(house, 'zero')
  expect(zero).toMatchObject({
    access: { can: 'yes' },
    desired: { kind: 'unreadable', reason: { error: '22012' } },
  })
})

test('what is left out is named with its code, whether the mapping or the service said so', async () => {
  await using house = await buildHouse(lane)
  await house.sql(
    `INSERT INTO clientes (id, plan, correo, nombre) VALUES ('c', 'premium', 'nowhere', 'Leocadia')`,
  )
  register(house, 'c', 2, { email: 'c@example.com' })
  const text = printed(await ask(house, 'c'))
  expect(text).toContain('  left out  the value of email is not valid; expected an e-mail address\n')
  expect(text).not.toContain('nowhere')
  await house.sql(
    `INSERT INTO rollcall.ledger (key, user_id, remote, refused, digest_key) VALUES ('c', 'c', 'present', '{"first_name": "x"}', 'another')`,
  )
  const refused = await ask(house, 'c')
  expect(refused.leftOut.map(({ field, code }) => [field, code])).toEqual([
    ['email', 'invalid'],
    ['first_name', 'refused'],
  ])
  await house.sql(
    `UPDATE rollcall.ledger SET refused = '{}', conflict = '{"values": {"first_name": "x"}, "tries": 1}'`,
  )
  expect((await ask(house, 'c')).leftOut.map(({ field, code }) => [field, code])).toEqual([
    ['email', 'invalid'],
    ['first_name', 'taken'],
  ])
  // A sync cannot repair a refused value: the row has to be corrected.
  expect(refused).toMatchObject({ result: 'same', remedies: [{ do: 'correct' }] })
  // With the key of the record it shows that the value has changed since.
  await house.sql('UPDATE rollcall.ledger SET digest_key = $1', [makeDigester(DIGEST.digestKey).id])
  expect(printed(await ask(house, 'c', DIGEST))).toContain(
    '  left out  the value of email is not valid; expected an e-mail address\n',
  )
})

test('of two customers with one user_id it is said that the access may be the other one', async () => {
  await using house = await buildHouse(lane, {
    sql: `${CUSTOMERS}; ALTER TABLE clientes ADD pais2 text DEFAULT 'ES', DROP CONSTRAINT clientes_pkey, ADD PRIMARY KEY (id, pais2)`,
    config: {
      customers: { table: 'public.clientes', key: ['id', 'pais2'] },
      mapping: { user_id: 'id', status: { column: 'plan', values: { free: 0, premium: 2, trial: 4 } } },
    },
  })
  await house.sql(`
    INSERT INTO clientes (id, pais2, plan) VALUES ('c', 'ES', 'premium'), ('c', 'PT', 'free');
    INSERT INTO rollcall.ledger (key, user_id, remote) VALUES ('["c", "ES"]', 'c', 'present')`)
  register(house, 'c', 2)
  const shared = await ask(house, '["c", "PT"]')
  expect(shared).toMatchObject({ access: { can: 'yes' }, claimants: ['["c", "ES"]'] })
  expect(printed(shared)).toMatch(/customer \["c", "ES"\], which has the same user_id/)
})

test.each(['present', 'unknown'])(
  'a status of which no answer came has an unknown outcome (the user was %s)',
  async (remote) => {
    await using house = await buildHouse(lane)
    await house.sql(
      `INSERT INTO clientes (id, plan) VALUES ('c', 'premium');
       INSERT INTO rollcall.ledger (key, user_id, remote, reason, digest_key, acknowledged_at) VALUES ('c', 'c', '${remote}',
         '{"code": "refused"}', '${makeDigester(DIGEST.digestKey).id}', CASE '${remote}' WHEN 'present' THEN now() - interval '1 hour' END)`,
    )
    expect((await ask(house, 'c', DIGEST)).drift?.cause).not.toBe('unknown-outcome')
    register(house, 'c', 0)
    expect((await ask(house, 'c', DIGEST)).fields[0]).toMatchObject({ cause: 'unknown-outcome' })
  },
)

test.each<[string, string | null, string, string | null]>([
  ['never-delivered', null, '1 hour', null],
  ['changed-here', 'Eva', '1 hour', 'email'],
  ['unknown-outcome', 'Eva', '1 hour', 'first_name'],
  ['edited-at-service', 'Ana', '1 hour', null],
  ['just-written', 'Ana', '0', null],
])('%s is the cause of a difference, sent %s, %s ago, lost %s', async (cause, sent, ago, lost) => {
  const config = { advanced: { timing: { consistencyDelayMs: 20_000 } } }
  await using house = await buildHouse(lane, { config })
  const digester = makeDigester(DIGEST.digestKey)
  const known = sent === null ? {} : { first_name: digester.digest('exact', 'c', 'first_name', sent) }
  await house.sql(`INSERT INTO clientes (id, plan, nombre) VALUES ('c', 'premium', 'Ana')`)
  await house.sql(
    `INSERT INTO rollcall.ledger (key, user_id, remote, sent_status, sent, digest_key, reason, acknowledged_at)
     VALUES ('c', 'c', 'present', 2, $1, $2, $3, now() - $4::interval)`,
    [known, digester.id, lost && { code: 'unknown', fields: [lost] }, ago],
  )
  register(house, 'c', 2, { first_name: 'Eve' })
  const { fields } = await ask(house, 'c', DIGEST)
  expect(fields.find(({ field }) => field === 'first_name')).toMatchObject({ state: 'differs', cause })
})

test('an erasure that is not carried out shows the fields that the service still has', async () => {
  await using house = await buildHouse(lane, { config: { onRemove: 'erase' } })
  const { id } = makeDigester(DIGEST.digestKey)
  await house.sql(
    `INSERT INTO rollcall.ledger (key, user_id, remote, sent_status, digest_key, acknowledged_at)
     VALUES ('c', 'c', 'present', 0, $1, now() - interval '1 hour')`,
    [id],
  )
  register(house, 'c', 0, { first_name: 'Ana' })
  const { drift, fields } = await ask(house, 'c', DIGEST)
  expect(drift?.fields).toEqual(['email', 'first_name'])
  expect(fields.map(({ field, here, state, cause }) => [field, here, state, cause])).toEqual([
    ['status', 'set', 'same', null],
    ['email', 'empty', 'differs', 'never-delivered'],
    ['first_name', 'empty', 'differs', 'never-delivered'],
  ])
})

test.each<[string, string | null, string | null]>([
  ['never-delivered', null, null],
  ['changed-here', 'PT', null],
  ['acknowledged', 'ES', null],
  ['unknown-outcome', 'PT', 'country_code'],
])('%s is told of the field that no GET shows, sent %s, lost %s', async (cause, sent, lost) => {
  await using house = await buildHouse(lane)
  const digester = makeDigester(DIGEST.digestKey)
  const known = sent === null ? {} : { country_code: digester.digest('exact', 'c', 'country_code', sent) }
  await house.sql(`INSERT INTO clientes (id, plan, pais) VALUES ('c', 'premium', 'ES')`)
  await house.sql(
    `INSERT INTO rollcall.ledger (key, user_id, remote, sent_status, sent, digest_key, reason, acknowledged_at)
     VALUES ('c', 'c', 'present', 2, $1, $2, $3, now() - interval '1 hour')`,
    [known, digester.id, lost && { code: 'unknown', fields: [lost] }],
  )
  register(house, 'c', 2)
  const { fields } = await ask(house, 'c', DIGEST)
  expect(fields.find(({ field }) => field === 'country_code')).toMatchObject({ state: 'not-shown', cause })
})
