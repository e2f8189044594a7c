// `migrate --target new` on a ledger that knows many customers: the calls are forecast, and are made.
import { expect, test } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts'
import { rollcall } from '../support/command.ts'
import { heldIn } from '../support/held.ts'
import { buildHouse, type House, PATIENT, SECRETS } from '../support/house.ts'
import { postgres as lane } from '../support/lanes.ts'
import { reconfigured } from '../support/other-mapping.ts'
import { runRollcall } from '../support/process.ts'
import { many, settledHouse } from '../support/settled-house.ts'
import { until } from '../support/until.ts'

const CUSTOMERS = 40
const TEN = { customers: 10, share: 0 }

async function migrated(house: House, ...args: readonly string[]) {
  const { code, out, output } = await rollcall(house, 'migrate', '--target', 'new', '--json', ...args)
  expect([code, output]).toEqual([0, output])
  return JSON.parse(out)
}

/** Customers that are settled at one service, seen with the address of another service that has no users. */
async function moved(brake: NonNullable<House['authored']['brake']>) {
  await using stack = new AsyncDisposableStack()
  const first = stack.use(await settledHouse(lane, many(CUSTOMERS), { config: PATIENT }))
  const other: Sandbox = await startSandbox({
    apiKey: SECRETS.SERVICE_API_KEY,
    secretKey: SECRETS.SERVICE_SECRET_KEY,
  })
  stack.defer(() => other.stop())
  const env = { ...first.env, SERVICE_URL: other.url }
  const house = { ...reconfigured(first, { brake }), env }
  const opened = stack.move()
  return { house, other, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

async function expectAllCreated({ house, other }: Awaited<ReturnType<typeof moved>>): Promise<void> {
  await using _worker = await runRollcall(house, ['worker'])
  await until(() => other.users.size === CUSTOMERS, { what: 'all are created' })
  await house.settled()
  expect(await heldIn(house.db.pool)).toBe(0)
}

test('users who are absent at a new service are created, and no customer is held for being absent', async () => {
  await using it = await moved({ changes: TEN })
  const { house, other } = it
  const { follows, target } = await migrated(house)
  expect(target).toEqual({ origin: other.url, environment: 'production', local: true })
  expect(follows).toMatchObject({
    sameService: false,
    customers: CUSTOMERS,
    rate: 500,
    seconds: 1,
    creates: { through: CUSTOMERS, held: 0, limit: 10_000, windowHours: 24, expected: null },
  })
  await expectAllCreated(it)
})

test('more registrations than the brake lets through are reported beforehand, and pass once they are expected', async () => {
  await using it = await moved({ creates: TEN })
  const { house } = it
  const without = await migrated(house)
  expect(without.follows.creates).toMatchObject({ through: 10, held: CUSTOMERS - 10, limit: 10 })
  const { follows } = await migrated(house, '--expect-creates', String(CUSTOMERS))
  expect(follows.creates).toMatchObject({ held: 0, expected: { set: true, left: CUSTOMERS } })
  await expectAllCreated(it)
})

test('a ledger that went back in time grants no trial again, and leaves alone who was never asked about', async () => {
  await using house = await buildHouse(lane, {
    config: { scope: { column: 'pais', in: ['ES'] } },
    contract: { trialAgain: 'restarts' },
  })
  const { db, sandbox } = house
  sandbox.users.set('theirs', { status: 2 })
  const worker = await house.startWorker()
  await db.sql(`INSERT INTO clientes (id, plan, pais) VALUES ('c', 'trial', 'ES'), ('theirs', 'free', 'FR')`)
  await house.settled()
  sandbox.clock.advance(15 * 86_400_000)
  expect(sandbox.users.get('c')?.status).toBe(0)
  await worker.stop()

  expect(await migrated(house)).toMatchObject({ follows: { customers: 1, sameService: true } })
  await house.startWorker()
  await house.settled()
  expect(sandbox.users.get('c')?.status).toBe(0)
  expect(sandbox.users.get('theirs')?.status).toBe(2)
  expect(house.calls('theirs')).toEqual([])
})
