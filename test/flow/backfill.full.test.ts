// A backfill from the command to the service: the worker makes the calls of the dry run, and a kill loses no customer.
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { makeCommand, rollcall } from '../support/command.ts'
import { buildHouse, CONFIG, type House, PATIENT } from '../support/house.ts'
import { anyLane as lane } from '../support/lanes.ts'
import { runRollcall } from '../support/process.ts'
import { many } from '../support/settled-house.ts'
import { until } from '../support/until.ts'

const MIXED = `
INSERT INTO clientes (id, plan, nombre, correo, pais, movil, prefijo, interno)
SELECT 'n' || i,
  CASE WHEN i <= 20 THEN 'free' WHEN i <= 30 THEN 'trial' WHEN i <= 35 THEN 'gold' ELSE 'premium' END,
  'N' || i, CASE WHEN i % 9 = 0 THEN 'no address' ELSE 'n' || i || '@example.com' END, 'ES',
  CASE WHEN i % 4 = 0 THEN '600000' || lpad(i::text, 3, '0') END, CASE WHEN i % 4 = 0 THEN '34' END,
  CASE WHEN i > 110 THEN 'fuera' END
FROM generate_series(1, 120) i`

/** o1 to o20 were synced once; then, while nothing captures it, some change, leave the scope or go. */
const BEFORE = `
INSERT INTO clientes (id, plan, nombre, pais, movil, prefijo)
SELECT 'o' || i, CASE WHEN i <= 4 THEN 'trial' WHEN i <= 6 THEN 'free' ELSE 'premium' END, 'O', 'ES', '600111222', '34'
FROM generate_series(1, 20) i`
const CHANGES = [
  `UPDATE clientes SET nombre = 'Otra' WHERE id IN ('o1', 'o2', 'o7')`,
  `UPDATE clientes SET plan = 'free' WHERE id IN ('o3', 'o8')`,
  `UPDATE clientes SET plan = 'premium' WHERE id IN ('o4', 'o5')`,
  `UPDATE clientes SET prefijo = '33' WHERE id = 'o9'`,
  `UPDATE clientes SET movil = NULL, prefijo = NULL WHERE id = 'o10'`,
  `UPDATE clientes SET interno = 'fuera' WHERE id = 'o11'`,
  `DELETE FROM clientes WHERE id IN ('o6', 'o12', 'o13')`,
]

/** As if capture had missed it. */
async function unseen({ db }: House, ...statements: readonly string[]): Promise<void> {
  await db.sql(`ALTER TABLE clientes DISABLE TRIGGER ALL; ${statements.join('; ')};
    ALTER TABLE clientes ENABLE TRIGGER ALL`)
}

test('the counts of the dry run are the calls that follow', async () => {
  const scope = `{ columns: ['interno'], when: (row) => row.interno !== 'fuera' }`
  const authored = JSON.stringify({ ...CONFIG, ...PATIENT, onRemove: 'erase' })
  await using command = await makeCommand(`{ ...${authored}, scope: ${scope} }`)
  const config = (await import(pathToFileURL(command.file).href)).default
  await using house = await buildHouse(lane, { config })
  const backfill = (...args: readonly string[]) => command.run(house.env, 'backfill', ...args)
  const worker = await house.startWorker()
  await house.settle(BEFORE)
  await unseen(house, MIXED, ...CHANGES)
  const before = house.calls().length

  const dry = await backfill('--dry-run', '--json', '--sample', '200')
  expect(dry.code).toBe(3)
  expect(house.calls()).toHaveLength(before)
  const forecast = JSON.parse(dry.out)
  expect(forecast).toMatchObject({ withoutLedger: null, ended: true, leftOut: { 'email: invalid': 12 } })
  expect(forecast).toMatchObject({ rejected: { 'status: not-in-values': 5 } })
  expect(forecast.sample).toHaveLength(forecast.verdicts.differs)
  expect(dry.out).not.toContain('@example.com')

  const done = await backfill('--wait')
  await house.settled()
  const calls = house.calls().slice(before)
  const counts = Map.groupBy(calls, ({ method }) => method)
  const made = Object.fromEntries([...counts].map(([method, all]) => [method, all.length]))
  expect({ GET: 0, PUT: 0, ...made }).toEqual(forecast.calls)
  expect(done.code).toBe(3)
  expect(done.out).toMatch(/^rejected +5 × mapping/m)
  expect(done.out).not.toContain('customers of the backfill are settled')

  const again = await backfill('--wait')
  await house.settled()
  expect(again.out).toMatch(/^differ +0 customers/m)
  expect(house.calls()).toHaveLength(before + calls.length)
  expect((await backfill('--dry-run')).code).toBe(0)
  await worker.stop()
})

test('--lookup finds users that the service knows and registers the others, none twice', async () => {
  await using house = await buildHouse(lane, { config: PATIENT })
  await unseen(house, many(40))
  for (const id of ['k1', 'k2', 'k3']) house.sandbox.users.set(id, { status: 2 })
  const worker = await house.startWorker()
  const dry = await rollcall(house, 'backfill', '--dry-run', '--lookup', '--json')
  expect(dry.code).toBe(3)
  expect(JSON.parse(dry.output)).toMatchObject({ calls: { GET: 40, POST: 40 }, lookups: 40 })
  const backfill = await rollcall(house, 'backfill', '--lookup', '--wait')
  expect(backfill).toMatchObject({
    code: 0,
    output: expect.stringContaining('customers of the backfill are settled'),
  })
  await worker.stop()
  const calls = Map.groupBy(house.calls(), ({ method }) => method)
  expect([calls.get('GET')?.length, calls.get('POST')?.length]).toEqual([40, 37])
})

test('expected registrations pass the brake, the limit after them, and the rest is reported as held', async () => {
  const changes = { ...PATIENT, createWithoutAccess: false, brake: { creates: { customers: 5, share: 0 } } }
  await using house = await buildHouse(lane, { config: changes })
  await using command = await makeCommand(JSON.stringify(house.authored))
  const run = (...args: readonly string[]) => command.run(house.env, ...args)
  await unseen(house, many(15), `UPDATE clientes SET plan = 'free' WHERE id IN ('k13', 'k14', 'k15')`)
  const worker = await house.startWorker()
  const dry = JSON.parse((await run('backfill', '--dry-run', '--expect-creates', '3', '--json')).out)
  expect(dry.brake).toEqual([{ kind: 'create', customers: 12, through: 8, held: 4, tripped: false }])
  expect(dry.calls).toEqual({ GET: 3, POST: 12, PUT: 0, PATCH: 0 })

  const done = await run('backfill', '--expect-creates', '3', '--wait')
  expect(done.code).toBe(3)
  expect(done.out).toMatch(/^expected /m)
  expect(done.out).toMatch(/^not settled +4 held: .*rollcall held/m)
  expect(done.out).not.toContain('customers of the backfill are settled')
  expect(house.calls().filter(({ method }) => method === 'POST')).toHaveLength(8)
  // No customer without access was registered, and each of them got a lookup.
  expect(house.calls().filter(({ method }) => method === 'GET')).toHaveLength(3)

  await run('held', 'release', '--kind', 'create', '--why', 'meant', '--by', 'somebody')
  await house.settled()
  await worker.stop()
  const calls = Map.groupBy(house.calls(), ({ method }) => method)
  expect([calls.get('POST')?.length, calls.get('GET')?.length]).toEqual([12, 3])
})

test('killed and run again it goes on where it was, and registers every customer once', async () => {
  await using house = await buildHouse(lane, { config: PATIENT })
  await unseen(house, many(300))
  const worker = await house.startWorker()
  const noted = async () =>
    (await house.sql<{ n: number }>('SELECT count(*)::int AS n FROM rollcall.owed')).rows[0]?.n ?? 0
  {
    await using killed = await runRollcall(house, ['backfill', '--rate', '20'])
    await until(async () => (await noted()) > 30, { what: 'a few pages are noted' })
    killed.kill('SIGKILL')
    await killed.exited
  }
  const had = await noted()
  expect(had).toBeLessThan(300)
  const resumed = await rollcall(house, 'backfill', '--wait')
  expect(resumed.code).toBe(0)
  expect(resumed.output).toMatch(/continues the unfinished backfill \(\d+ customers done\)/)
  expect(resumed.output).toMatch(/^customers +300 compared/m)
  await house.settled()
  await worker.stop()
  expect(house.calls().filter(({ method }) => method === 'POST')).toHaveLength(300)
  expect(house.sandbox.users.size).toBe(300)
})
