// onRemove: 'erase': a customer without a row loses access, and then its fields at the service.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { RollcallConfig } from '../../src/config/define.ts'
import { readErasures } from '../../src/ledger/erasures.ts'
import { noteNow } from '../../src/ledger/note-unchanged.ts'
import { LANE } from '../../src/model/customer.ts'
import { OPTIONAL_FIELDS, type OptionalField } from '../../src/model/user.ts'
import type { ContractInput as Contract } from '../../src/sandbox/contract/contract.ts'
import type { FaultInput } from '../../src/sandbox/faults/faults.ts'
import { buildHouse, CONFIG, type House, timed, workingHouse } from '../support/house.ts'
import { otherLane } from '../support/lanes.ts'
import { insertFull, KINDS } from '../support/presets.ts'
import { runRollcall } from '../support/process.ts'
import { until } from '../support/until.ts'

const ERASE: Partial<RollcallConfig> = { onRemove: 'erase' }
const remove = ({ db }: House, key: string) => db.sql('DELETE FROM clientes WHERE id = $1', [key])

const bodyOf = (fields: readonly OptionalField[], empty: null | '' = null) =>
  JSON.stringify({ status: 0, ...Object.fromEntries(fields.map((field) => [field, empty])) })
const REVOKE = 'PATCH {"status":0}'
const CLEAR = `PATCH ${bodyOf(OPTIONAL_FIELDS)}`

/** Every write, byte for byte. */
const writes = ({ sandbox }: House, userId = 'c') =>
  sandbox.journal
    .list({ userId })
    .filter(({ method }) => method !== 'GET')
    .map(({ method, raw }) => `${method} ${raw}`)

const calls = ({ sandbox }: House, after: number) =>
  sandbox.journal.list({ after }).map(({ method, raw }) => `${method} ${raw}`.trim())

const held = ({ sandbox }: House, userId = 'c') =>
  OPTIONAL_FIELDS.filter((field) => (sandbox.users.get(userId)?.[field] ?? '') !== '')

const receiptsOf = async ({ db }: House, ...keys: readonly string[]) =>
  await readErasures(db.pool, { keys, limit: 50 })

async function recordOf({ db }: House, key = 'c') {
  const { rows } = await db.sql(
    `SELECT state, reason, sent_status AS status, sent, seen, refused, erased FROM rollcall.ledger WHERE key = $1`,
    [key],
  )
  return rows[0]
}

const NOTHING = { sent: {}, seen: {}, refused: {} }

/** `sent`: marks of fields that were cleared a second time. */
async function expectErased(house: House, key = 'c', sent: object = {}): Promise<void> {
  expect([house.sandbox.users.get(key)?.status, held(house, key)]).toEqual([0, []])
  const idle = { state: 'idle', reason: null }
  expect(await recordOf(house, key)).toEqual({ ...NOTHING, ...idle, sent, status: 0, erased: 'verified' })
  const [latest] = await receiptsOf(house, key)
  expect(latest).toMatchObject({ key, left: [], verifiedAt: expect.any(String) })
}

otherLane('a customer whose row is gone, to be erased', (lane) => {
  test('is shut out by one call and cleared by the next, and comes back as a whole', async () => {
    const { email, user_id, status, country_code } = CONFIG.mapping
    const mapping = {
      user_id,
      status,
      ...(email ? { email } : {}),
      ...(country_code ? { country_code } : {}),
    }
    await using house = await workingHouse(lane, { config: { ...ERASE, mapping } })
    await insertFull(house, 'c')
    await house.settled()
    // The mapping does not set these fields, and another system has stored them.
    house.sandbox.users.edit('c', { last_name: 'Gil', description: 'rang twice', birthdate: '1980-02-29' })
    const before = house.sandbox.journal.last
    await remove(house, 'c')
    await house.settled()
    expect(calls(house, before)).toEqual([REVOKE, CLEAR, 'GET'])
    await expectErased(house)
    expect(await receiptsOf(house, 'c')).toMatchObject([{ userId: 'c', fields: OPTIONAL_FIELDS }])

    // An erased customer is not owed a sync.
    const then = house.sandbox.journal.last
    await noteNow(house.db.pool, ['c'], LANE.change)
    await house.settled()
    expect(calls(house, then)).toEqual([])

    await insertFull(house, 'c')
    await house.settled()
    expect(calls(house, then)).toEqual([
      'PATCH {"status":2,"email":"Ana.Gil@Example.com","country_code":"ES"}',
    ])
    expect((await recordOf(house)).erased).toBe(null)

    await remove(house, 'c')
    await house.settled()
    expect(writes(house).slice(-2)).toEqual([REVOKE, CLEAR])
    await expectErased(house)
    expect(await receiptsOf(house, 'c')).toHaveLength(2)
  })

  test('whose worker is killed before the second call, or in it, is erased all the same', async () => {
    await using house = await buildHouse(lane, { config: ERASE })
    const fates: readonly FaultInput[][] = [
      [{ match: { field: 'gender' }, action: { kind: 'hang-after' } }],
      [
        { match: { field: 'gender' }, action: { kind: 'latency', minMs: 60_000, maxMs: 60_000 } },
        { match: { field: 'gender' }, action: { kind: 'drop-before' } },
      ],
    ]
    for (const [n, faults] of fates.entries()) {
      const key = `c${n}`
      await insertFull(house, key)
      const first = await house.startWorker()
      await house.settled()
      await first.stop()
      house.sandbox.faults.set(faults)
      await using worker = await runRollcall(house, ['worker'])
      await remove(house, key)
      await until(() => writes(house, key).at(-1) === CLEAR, { what: 'the second call' })
      worker.kill('SIGKILL')
      await worker.exited
      house.sandbox.faults.set([])
      const second = await house.startWorker()
      await house.settled()
      await expectErased(house, key, { country_code: 'null' })
      // The outcome is unknown: a lookup, then the call once more. No lookup shows the country, so it is cleared twice.
      expect(writes(house, key).slice(1, 4)).toEqual([REVOKE, CLEAR, CLEAR])
      expect(writes(house, key).slice(4)).toEqual(['PATCH {"status":0,"country_code":null}'])
      await second.stop()
    }
  })

  test('keeps the revocation when the second call fails, and is erased by the next try', async () => {
    await using house = await workingHouse(lane, { config: ERASE })
    await insertFull(house, 'c')
    await house.settled()
    const match = { method: 'PATCH', field: 'gender' } as const
    house.sandbox.faults.set([{ match, times: 1, action: { kind: 'status', status: 503 } }])
    await remove(house, 'c')
    await house.settled()
    expect(writes(house).slice(1)).toEqual([REVOKE, CLEAR, CLEAR])
    await expectErased(house)
    expect(await receiptsOf(house, 'c')).toHaveLength(1)
  })
})

otherLane('an erasure at another kind of service', (lane) => {
  const kinds = ['update-null', 'legacy', 'terse', 'eventual'] as const
  test.each(kinds)('comes to its end: %s', async (name) => {
    const contract: Contract = KINDS[name]
    const lag = contract.visibleAfterMs ?? 0
    const times = timed({ consistencyDelayMs: lag * 1.2, lifetimeMs: 900 + lag * 1.2 })
    const config = { ...ERASE, ...times, service: { timeoutMs: 300 } }
    await using house = await workingHouse(lane, { contract, config })
    await insertFull(house, 'c')
    await house.settled()
    await sleep(lag)
    await remove(house, 'c')
    await house.settled()
    expect(writes(house).slice(1)).toEqual([REVOKE, CLEAR])
    await expectErased(house)
  })
})

otherLane('a user that another customer is', (lane) => {
  const config: Partial<RollcallConfig> = {
    ...ERASE,
    customers: { table: 'public.clientes', key: ['region', 'id'] },
    mapping: { user_id: 'id', status: { column: 'plan', values: { premium: 2 } }, first_name: 'nombre' },
    scope: { column: 'activo', in: [true] },
  }
  const sql = `CREATE TABLE clientes (region text, id text, plan text, nombre text, activo boolean DEFAULT true,
    PRIMARY KEY (region, id))`

  test('keeps everything, and who is merely out of scope is revoked alone', async () => {
    await using house = await workingHouse(lane, { sql, config })
    await house.settle(
      `INSERT INTO clientes VALUES ('ES', 'c', 'premium', 'Ana'), ('ES', 'd', 'premium', 'Eva')`,
    )
    await house.sql(`BEGIN; INSERT INTO clientes VALUES ('PT', 'c', 'premium', 'Ana');
      DELETE FROM clientes WHERE region = 'ES' AND id = 'c'; COMMIT`)
    await house.settle(`UPDATE clientes SET activo = false WHERE id = 'd'`)
    expect(house.sandbox.users.get('c')).toMatchObject({ status: 2, first_name: 'Ana' })
    expect(house.sandbox.users.get('d')).toMatchObject({ status: 0, first_name: 'Eva' })
    expect([...writes(house, 'c'), ...writes(house, 'd')].filter((call) => call.includes('null'))).toEqual([])
    expect(await receiptsOf(house)).toEqual([])

    await house.settle('DELETE FROM clientes')
    for (const userId of ['c', 'd'])
      expect([house.sandbox.users.get(userId)?.status, held(house, userId)]).toEqual([0, []])
  })
})
