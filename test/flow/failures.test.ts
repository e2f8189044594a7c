// How a failure ends: by itself when row or mapping change, by hand when the service has changed its mind.
import { expect, test } from 'vitest'
import { rollcall } from '../support/command.ts'
import { buildHouse, type House, timed, workingHouse } from '../support/house.ts'
import { postgres as lane } from '../support/lanes.ts'

/** No attempt comes by itself while a test runs. */
const PATIENT = timed({ retryMinMs: 3_600_000, retryMaxMs: 3_600_000 })

async function failures(house: House, ...args: readonly string[]) {
  const { code, output } = await rollcall(house, 'failures', ...args)
  return { code, text: output.replaceAll(/\s+/g, ' ') }
}

async function recorded({ db }: House) {
  const { rows } = await db.sql(
    `SELECT key, state, reason->>'code' AS code, reason->>'status' AS status, jsonb_path_query_array(issues, '$[*].field') AS issues
     FROM rollcall.ledger ORDER BY key`,
  )
  return rows
}

const SETTLED = { state: 'idle', code: null, status: null, issues: [] }

test('a row that the mapping rejects is explained, and settles once it is corrected', async () => {
  await using house = await workingHouse(lane, { config: PATIENT })
  await house.settle(`INSERT INTO clientes (id, plan, correo) VALUES ('c', 'gold', 'no-mail')`)
  const { code, text } = await failures(house)
  expect(code).toBe(3)
  expect(text).toMatch(/rejected: 1 .*mapping/)
  expect(text).toMatch(/status .*free, premium, trial/)
  expect(text).not.toMatch(/gold|no-mail/)
  expect((await failures(house, 'c')).text).toContain('or list the value in the')

  await house.settle(`UPDATE clientes SET plan = 'premium', correo = 'c@example.com'`)
  expect(await recorded(house)).toEqual([{ key: 'c', ...SETTLED }])
  expect((await failures(house)).code).toBe(0)
  expect((await failures(house, 'c')).code).toBe(0)
})

test('once the service takes what it refused, --retry sends the same value again', async () => {
  await using house = await workingHouse(lane, { config: PATIENT, contract: { refuses: 'description' } })
  await house.settle(`INSERT INTO clientes (id, plan) SELECT k, 'premium' FROM unnest('{a,b}'::text[]) k`)
  await house.settle(`UPDATE clientes SET notas = 'VIP'`)
  expect((await recorded(house)).map(({ issues }) => issues)).toEqual([['description'], ['description']])

  house.sandbox.contract.set({})
  const before = house.calls().length
  const { code, text } = await failures(house, '--retry', '--reason', 'issue:description:refused')
  expect([code, text]).toEqual([0, expect.stringMatching(/^2 customers to retry/)])
  await house.settled()
  expect(await recorded(house)).toEqual(['a', 'b'].map((key) => ({ key, ...SETTLED })))
  expect(house.calls().slice(before)).toEqual(
    ['a', 'b'].map(() => ({ method: 'PATCH', body: { status: 2, description: 'VIP' } })),
  )
})

test('who is rejected or waits for a later attempt is tried now by --retry', async () => {
  await using house = await buildHouse(lane, { config: PATIENT, contract: { forbidden: 'forbidden' } })
  house.sandbox.faults.set([{ match: { userId: 'refused' }, action: { kind: 'status', status: 400 } }])
  await house.startWorker()
  await house.sql(
    `INSERT INTO clientes (id, plan) SELECT k, 'premium' FROM unnest('{forbidden,refused}'::text[]) k`,
  )
  const mapping = async () => (await recorded(house)).map(({ state, code, status }) => [state, code, status])
  // A refused create is followed by a lookup, and that fails too: so both wait.
  await expect.poll(mapping).toEqual([
    ['failing', 'denied', '403'],
    ['failing', 'failed', '400'],
  ])
  house.sandbox.contract.set({})
  expect((await failures(house, '--retry', 'forbidden')).code).toBe(0)
  await expect.poll(async () => (await mapping())[0]).toEqual(['idle', null, null])
  expect((await mapping())[1]).toEqual(['failing', 'failed', '400'])

  house.sandbox.faults.set([
    { match: { userId: 'refused', method: 'POST' }, action: { kind: 'status', status: 400 } },
  ])
  expect((await failures(house, '--retry', '--all')).code).toBe(0)
  await expect.poll(async () => (await mapping())[1]).toEqual(['rejected', 'refused', '400'])
  house.sandbox.faults.clear()
  expect((await failures(house, '--retry', '--reason', 'refused')).code).toBe(0)
  await house.settled()
  expect(await mapping()).toEqual([
    ['idle', null, null],
    ['idle', null, null],
  ])
  expect(house.sandbox.users.get('refused')?.status).toBe(2)
})
