// A service that takes each e-mail address once: a customer with another user's address gets access at once, and the
// address as soon as it is free.
import { expect, test } from 'vitest'
import { buildHouse, type House, PATIENT, workingHouse } from '../support/house.ts'
import { postgres as lane } from '../support/lanes.ts'
import { until } from '../support/until.ts'

const UNIQUE = { unique: 'email' } as const

const write = ({ db }: House, sql: string) => db.sql(sql)

/** Customers `a` and `b`, with the addresses `one` and `two`. */
const TWO = `INSERT INTO clientes (id, plan, correo)
  VALUES ('a', 'premium', 'one@example.com'), ('b', 'premium', 'two@example.com')`

/** The time comes at which what was refused is tried again. */
const timePasses = ({ db }: House) =>
  db.sql('UPDATE rollcall.owed SET replan_at = now() WHERE replan_at IS NOT NULL')

const emailOf = ({ sandbox }: House, key: string) => sandbox.users.get(key)?.email

const methodsOf = (house: House, key: string) => house.calls(key).map(({ method }) => method)

/** Each customer's address is what its row says, in as many tries as it takes. */
async function expectEmails(house: House, emails: Readonly<Record<string, string>>): Promise<void> {
  for (const [key, email] of Object.entries(emails)) await until(() => emailOf(house, key) === email)
  await house.settled()
}

/** How many customers are without their address at the service. */
async function without({ db }: House): Promise<number> {
  const { rowCount } = await db.sql(
    `SELECT FROM rollcall.ledger WHERE issues @> '[{"field": "email"}]' AND state = 'idle'`,
  )
  return rowCount ?? 0
}

async function waiting({ db }: House) {
  const { rows } = await db.sql(
    `SELECT key, l.state, jsonb_path_query_array(l.issues, '$[*].code') AS issues, (conflict->>'tries')::int AS tries,
       round(extract(epoch FROM o.replan_at - now()) / 60)::int AS minutes
     FROM rollcall.ledger l JOIN rollcall.owed o USING (key) WHERE conflict IS NOT NULL ORDER BY key`,
  )
  return rows
}

test.each(['details', 'opaque', 'html'] as const)(
  'a create with an address that is taken (%s): access at once, the address once it is free',
  async (refusal) => {
    await using house = await buildHouse(lane, { config: PATIENT, contract: { ...UNIQUE, refusal } })
    house.sandbox.users.set('theirs', { status: 2, email: 'ana@example.com' })
    await house.startWorker()
    await write(
      house,
      `INSERT INTO clientes (id, plan, nombre, correo) VALUES ('c', 'premium', 'Ana', 'Ana@example.com')`,
    )
    await until(() => house.sandbox.users.get('c')?.status === 2)
    await house.settled()
    expect(house.sandbox.users.get('c')).toMatchObject({ status: 2, first_name: 'Ana', email: null })
    expect(methodsOf(house, 'c').slice(0, 3)).toEqual(['POST', 'GET', 'POST'])
    expect(await waiting(house)).toEqual([
      { key: 'c', state: 'idle', issues: ['taken'], tries: 1, minutes: 1 },
    ])

    // Still taken: nothing else is sent for it, and the next time is farther away.
    await timePasses(house)
    await until(async () => (await waiting(house))[0]?.tries === 2)
    await house.settled()
    expect(await waiting(house)).toEqual([
      { key: 'c', state: 'idle', issues: ['taken'], tries: 2, minutes: 60 },
    ])

    house.sandbox.users.delete('theirs')
    await timePasses(house)
    await expectEmails(house, { c: 'Ana@example.com' })
    expect(await waiting(house)).toEqual([])
  },
)

test('an address that another customer gives up later goes to the one who waits for it', async () => {
  await using house = await workingHouse(lane, { config: PATIENT, contract: UNIQUE })
  await write(house, TWO)
  await house.settled()
  await write(house, `UPDATE clientes SET correo = 'one@example.com' WHERE id = 'b'`)
  await until(async () => (await without(house)) === 1)
  expect(emailOf(house, 'b')).toBe('two@example.com')

  await write(house, `UPDATE clientes SET correo = 'three@example.com' WHERE id = 'a'`)
  await expectEmails(house, { a: 'three@example.com', b: 'one@example.com' })
  expect(methodsOf(house, 'a')).toEqual(['POST', 'PATCH'])
  // The address, refused; the status alone; the address.
  expect(methodsOf(house, 'b')).toEqual(['POST', 'PATCH', 'PATCH', 'PATCH'])
})

test('two customers swap their addresses: both end right, and nothing is called after that', async () => {
  await using house = await workingHouse(lane, { config: PATIENT, contract: UNIQUE })
  await write(house, TWO)
  await house.settled()
  const before = house.calls().length
  await write(
    house,
    `UPDATE clientes SET correo = CASE id WHEN 'a' THEN 'two@example.com' ELSE 'one@example.com' END`,
  )
  await until(async () => (await without(house)) === 2)
  await house.settled()
  expect([emailOf(house, 'a'), emailOf(house, 'b')]).toEqual(['one@example.com', 'two@example.com'])

  await timePasses(house)
  await expectEmails(house, { a: 'two@example.com', b: 'one@example.com' })
  await until(async () => (await without(house)) === 0)
  await house.settled()
  const calls = house.calls().slice(before)
  expect(calls.every(({ method }) => method === 'PATCH')).toBe(true)
  // Each: refused, the status alone. Then each is refused once more, one or both give up their own, and take the other's.
  expect(calls.length).toBeLessThanOrEqual(10)
  await timePasses(house)
  await house.settled()
  expect(house.calls().length).toBe(before + calls.length)
})
