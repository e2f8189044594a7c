// The service always fails for two customers, and a hundred others must not notice.
import { expect, test } from 'vitest'
import type { FaultInput } from '../../src/sandbox/faults/faults.ts'
import { buildHouse, type House, timed } from '../support/house.ts'
import { otherLane } from '../support/lanes.ts'
import { until } from '../support/until.ts'

const OTHERS = 100
/** The customer that is answered 403, and the customer that is answered 503. */
const STUBBORN = ['denied', 'broken'] as const

const RETRY = { retryMinMs: 200, retryMaxMs: 3200 }
/** No answer comes too late on a busy machine: what a call of the others costs is counted. */
const config = { service: { timeoutMs: 3000 }, ...timed({ ...RETRY, lifetimeMs: 8000 }) }

/** `nextMs`: until the next attempt; null: none is owed. */
async function progressOf({ db }: House) {
  const { rows } = await db.sql<Record<'key' | 'state' | 'status', string> & Timing>(
    `SELECT key, o.attempts, (extract(epoch FROM o.due_at - now()) * 1000)::float8 AS "nextMs", l.state,
       l.reason->>'status' AS status
     FROM rollcall.owed o JOIN rollcall.ledger l USING (key) WHERE key = ANY($1) ORDER BY key`,
    [STUBBORN],
  )
  return rows
}
type Timing = { readonly attempts: number; readonly nextMs: number | null }

const othersSettled = ({ db, sandbox }: House, name: string) =>
  until(
    async () => {
      const { rows } = await db.sql<{ n: number }>(
        `SELECT count(*)::int AS n FROM rollcall.owed o JOIN rollcall.ledger l USING (key)
         WHERE key <> ALL($1) AND o.due_at IS NULL AND NOT o.unknown AND o.synced_version = o.change_version AND l.state = 'idle'`,
        [STUBBORN],
      )
      const named = sandbox.users.all().filter(({ first_name }) => first_name === name)
      return rows[0]?.n === OTHERS && named.length === OTHERS
    },
    { what: `all others settled as ${name}` },
  )

const callsOf = ({ sandbox }: House, key: string) => sandbox.journal.list({ userId: key })

/**
 * Calls that the back-off allows within a time: chance makes each wait half of its bound on average, and twice as many
 * as that gives are never seen. One call for each attempt, and one more for the create that is looked after.
 */
function mostCalls(ms: number): number {
  let attempts = 0
  for (let waited = 0; waited <= ms; attempts += 1)
    waited += Math.min(RETRY.retryMaxMs, RETRY.retryMinMs * 2 ** attempts) / 2
  return 2 * attempts + 1
}

const RELENTLESS: readonly (readonly [string, Partial<Extract<FaultInput['action'], { kind: 'status' }>>])[] =
  [
    ['without a Retry-After', {}],
    ['with a Retry-After that names no time to wait', { retryAfter: { form: 'seconds', seconds: 0 } }],
  ]

otherLane('one customer always refused with 403 and one always answered 503', (lane) => {
  test.each(RELENTLESS)('%s: all others go on at full pace', async (_name, more) => {
    await using house = await buildHouse(lane, { config })
    const { sandbox, db } = house
    const [denied, broken] = STUBBORN
    sandbox.faults.set([
      { match: { userId: denied }, action: { kind: 'status', status: 403, ...more } },
      { match: { userId: broken }, action: { kind: 'status', status: 503, ...more } },
    ])
    await house.startWorker()
    await house.startWorker()
    const startedAt = Date.now()
    await db.sql(`INSERT INTO clientes (id, plan, nombre) SELECT unnest($1::text[]), 'premium', 'a'`, [
      STUBBORN,
    ])
    await until(async () => (await progressOf(house)).length === STUBBORN.length)

    await db.sql(
      `INSERT INTO clientes (id, plan, nombre) SELECT 'k' || i, 'premium', 'a' FROM generate_series(1, $1) i`,
      [OTHERS],
    )
    await othersSettled(house, 'a')
    for (const name of ['b', 'c']) {
      await db.sql('UPDATE clientes SET nombre = $1', [name])
      await othersSettled(house, name)
    }

    // No other customer was delayed: no call of the others was made twice, and none failed.
    const others = sandbox.journal.list().filter(({ userId }) => !STUBBORN.some((key) => key === userId))
    expect(others.map(({ method }) => method).toSorted()).toEqual([
      ...Array(2 * OTHERS).fill('PATCH'),
      ...Array(OTHERS).fill('POST'),
    ])
    expect(others.every(({ status }) => status === 200 || status === 201)).toBe(true)

    // It was busy for one customer, again and again, which lowers the pace once.
    const { rows: pace } = await db.sql('SELECT epoch, breaker, not_before FROM rollcall.pace')
    expect(pace).toEqual([{ epoch: '1', breaker: 'closed', not_before: null }])

    // The two go on failing meanwhile, as often as the back-off allows, and it can be seen when they are tried next.
    await until(async () => (await progressOf(house)).every(({ attempts }) => attempts >= 2))
    const failing = { state: 'failing', nextMs: expect.any(Number) }
    expect(await progressOf(house)).toMatchObject([
      { key: broken, status: '503', ...failing },
      { key: denied, status: '403', ...failing },
    ])
    const most = mostCalls(Date.now() - startedAt)
    for (const key of STUBBORN) {
      expect(callsOf(house, key).length, key).toBeLessThanOrEqual(most)
      expect(sandbox.users.get(key)).toBeUndefined()
    }

    sandbox.faults.clear()
    await house.settled()
    for (const key of STUBBORN) expect(sandbox.users.get(key)).toMatchObject({ status: 2, first_name: 'c' })
    for (const { attempts, nextMs, state } of await progressOf(house))
      expect({ attempts, nextMs, state }).toEqual({ attempts: 0, nextMs: null, state: 'idle' })
  })
})
