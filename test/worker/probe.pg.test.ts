// The user of a probe: with real tables, and a service that records the requested users.
import { expect, test } from 'vitest'
import { configureCeiling } from '../../src/pace/row.ts'
import { startSandbox } from '../../src/sandbox/server.ts'
import { makeUsersClient } from '../../src/service/users.ts'
import { makeProbe } from '../../src/worker/probe.ts'
import { held, keys, put, type Row } from '../brake/scene.ts'
import { freshDatabase } from '../support/database.ts'

const KEYS = { apiKey: 'an-api-key-of-a-test', secretKey: 'a-secret-key-of-a-test' }

async function scene(rows: readonly Row[], random = () => 0.9) {
  const opened = new AsyncDisposableStack()
  const { pool } = opened.use(await freshDatabase())
  await configureCeiling(pool, 60)
  await put(pool, rows)
  const sandbox = await startSandbox(KEYS)
  opened.defer(() => sandbox.stop())
  const users = makeUsersClient({
    ...KEYS,
    ...{ origin: sandbox.url, timeoutMs: 5000, concurrency: 2, allowPlainHttp: false },
  })
  opened.defer(() => users.close())
  const { signal } = new AbortController()
  const probe = makeProbe({ pool, users, signal, log: () => undefined, random })
  /** The users that so many probes asked about. */
  const asked = async (probes: number, denied: readonly string[] = []): Promise<ReadonlySet<string>> => {
    for (let made = 0; made < probes; made++) await probe(denied)
    return new Set(sandbox.journal.list().map(({ userId }) => userId ?? ''))
  }
  return { pool, sandbox, probe, asked, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

const good = (key: string): Row => ({ key, sent: 2 })

test('is another user each time, and only those for which all is right', async () => {
  await using it = await scene([...keys(6).map(good), held('x1'), { key: 'x2', remote: 'absent' }])
  const asked = await it.asked(60)
  expect(asked.size).toBeGreaterThan(1)
  for (const userId of asked) expect(userId).toMatch(/^u-k/)
})

test('is none of those whose calls have just failed or been refused, while there is another', async () => {
  await using it = await scene(keys(6).map(good))
  const { rows } = await it.pool.query<{ id: string }>('SELECT id::text AS id FROM rollcall.owed ORDER BY id')
  const ids = rows.map(({ id }) => id)
  const tally = (some: readonly string[]) => Object.fromEntries(some.map((id) => [id, 1]))
  await it.pool.query('UPDATE rollcall.pace SET trouble = $1', [{ forgiven: tally(ids.slice(3, 5)) }])
  expect([...(await it.asked(20, ids.slice(0, 3)))]).toEqual(['u-k00006'])
})

test('is a name without a user where no user is known to be up to date, or one of those who are there', async () => {
  let next = 0.9
  await using it = await scene([held('x1')], () => next)
  expect(await it.probe([])).toBe('well')
  next = 0.1
  await it.probe([])
  expect(it.sandbox.journal.list().map(({ userId }) => userId)).toEqual(['rollcall-probe', 'u-x1'])
})

test('is a name without a user on an empty ledger, whatever stands in the row', async () => {
  await using it = await scene([], () => 0.1)
  for (const trouble of [{ forgiven: 7 }, []]) {
    await it.pool.query('UPDATE rollcall.pace SET trouble = $1', [JSON.stringify(trouble)])
    expect(await it.probe([])).toBe('well')
  }
})
