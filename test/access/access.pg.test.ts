import { expect, test } from 'vitest'
import { setCeiling } from '../../src/pace/row.ts'
import { startSandbox } from '../../src/sandbox/server.ts'
import { buildHouse, type House, SECRETS } from '../support/house.ts'
import { ask, lane, open, told } from './house.ts'

const DIGEST = { digestKey: SECRETS.ROLLCALL_DIGEST_KEY }

async function insert(house: House, id: string, plan: string): Promise<void> {
  await house.db.pool.query('INSERT INTO clientes (id, plan, correo) VALUES ($1, $2, $3)', [
    id,
    plan,
    `${id}@example.com`,
  ])
}

/** As the service would hold each of them after a sync. */
function register(house: House, id: string, status: number, fields: object = {}): void {
  house.sandbox.users.set(id, { status, email: `${id}@example.com`, ...fields })
}

test('full access, a trial, no access and no registration are told apart, one GET for each', async () => {
  await using house = await buildHouse(lane)
  for (const [id, plan] of [
    ['full', 'premium'],
    ['trial', 'trial'],
    ['none', 'free'],
    ['new', 'premium'],
  ] as const)
    await insert(house, id, plan)
  register(house, 'full', 2)
  register(house, 'trial', 4)
  register(house, 'none', 0)
  await using access = await open(house)
  const verdict = async (key: string) => Object.values((await access.of(key)).verdict).join(' ')
  expect(await verdict('full')).toBe('yes full')
  expect(await verdict('trial')).toBe('yes trial')
  expect(await verdict('none')).toBe('no no-access')
  expect(await verdict('new')).toBe('no not-registered')
  expect(house.calls().map(({ method }) => method)).toEqual(['GET', 'GET', 'GET', 'GET'])
})

test('a key that neither the customer data nor rollcall nor the service knows is no such customer', async () => {
  await using house = await buildHouse(lane)
  const unknown = await ask(house, 'mistyped')
  expect([unknown.verdict.why, unknown.cure]).toEqual(['no-such-customer', null])
  expect(told(unknown)).toContain('no such customer')
  // A customer who was there once is not mistyped.
  await insert(house, 'gone', 'premium')
  await house.db.pool.query('DELETE FROM clientes')
  expect((await ask(house, 'gone')).verdict.why).toBe('not-registered')
})

test('what rollcall owes is told, from the captured change to the settled one, and so is what to do', async () => {
  await using house = await buildHouse(lane)
  await insert(house, 'c', 'premium')
  register(house, 'c', 0)
  const captured = await ask(house, 'c')
  expect(captured).toMatchObject({
    verdict: { can: 'no', why: 'no-access' },
    next: { kind: 'differs', act: 'update', status: 2, fields: [] },
    cure: 'wait',
    knowledge: { kind: 'known', owed: null, capturedMs: expect.any(Number) },
  })
  expect(told(captured)).toContain('status is 0, should be 2')

  await house.db.pool.query(`UPDATE rollcall.outbox SET at = at - interval '2 hours'`)
  const waiting = await ask(house, 'c')
  expect([waiting.cure, told(waiting)]).toEqual([
    'start-a-worker',
    expect.stringContaining('captured 2 h ago'),
  ])

  const worker = await house.startWorker()
  await house.settled()
  await worker.stop()
  const settled = await ask(house, 'c', DIGEST)
  expect(settled).toMatchObject({ verdict: { can: 'yes', why: 'full' }, next: { kind: 'right' }, cure: null })
  expect(told(settled)).toMatch(/rollcall +nothing owed, last written/)
})

test('a customer who is rejected or failing is told with the reason, and when the next attempt is', async () => {
  await using house = await buildHouse(lane)
  house.sandbox.faults.set([{ match: { method: 'POST' }, action: { kind: 'status', status: 429 } }])
  await insert(house, 'c', 'premium')
  const worker = await house.startWorker()
  await expect
    .poll(
      async () => (await house.db.pool.query(`SELECT FROM rollcall.ledger WHERE state = 'failing'`)).rowCount,
    )
    .toBe(1)
  await worker.stop()
  await house.db.pool.query(`UPDATE rollcall.owed SET due_at = now() + interval '90 seconds', token = NULL`)
  const failing = await ask(house, 'c')
  expect(failing.cure).toBe('wait')
  expect(told(failing)).toMatch(/owed since .*, next attempt in (89|90) s; failing \(later 429/)

  await house.db.pool.query(`
    UPDATE rollcall.owed SET due_at = NULL;
    UPDATE rollcall.ledger SET state = 'rejected', reason = '{"code": "refused", "status": 422}'`)
  const rejected = await ask(house, 'c')
  expect([rejected.cure, told(rejected)]).toEqual([
    'correct',
    expect.stringContaining('nothing owed; rejected (refused 422)'),
  ])
})

test('a trial that was agreed on and is over is told from one that was never given', async () => {
  await using house = await buildHouse(lane)
  await insert(house, 'c', 'trial')
  const worker = await house.startWorker()
  await house.settled()
  await worker.stop()
  house.sandbox.users.edit('c', { status: 0 })
  const ended = await ask(house, 'c', DIGEST)
  expect(ended).toMatchObject({ verdict: { why: 'trial-ended' }, next: { kind: 'right' }, cure: null })
  await insert(house, 'd', 'trial')
  register(house, 'd', 0)
  expect((await ask(house, 'd', DIGEST)).verdict.why).toBe('trial-ended-or-never-given')
  // An upgrade that is on its way: what it lost is the trial, and what is owed is full access.
  await house.db.pool.query(`UPDATE clientes SET plan = 'premium' WHERE id = 'c'`)
  const upgraded = await ask(house, 'c', DIGEST)
  expect(upgraded).toMatchObject({ verdict: { why: 'trial-ended' }, next: { status: 2 }, cure: 'wait' })
})

test('who has access and should have none is let in, and is told to be revoked', async () => {
  await using house = await buildHouse(lane, { config: { scope: { column: 'interno', in: ['no'] } } })
  register(house, 'removed', 2)
  expect(await ask(house, 'removed')).toMatchObject({
    verdict: { can: 'yes' },
    should: { kind: 'removed' },
    next: { kind: 'differs', act: 'revoke' },
    cure: 'sync',
  })
  // Never in scope: others may look after that user.
  await house.db.pool.query(`INSERT INTO clientes (id, plan, interno) VALUES ('s', 'premium', 'si')`)
  await house.db.pool.query('DELETE FROM rollcall.outbox')
  register(house, 's', 2)
  const outside = await ask(house, 's')
  expect(outside).toMatchObject({ should: { kind: 'out-of-scope' }, cure: null })
  expect(outside.next).toEqual({ kind: 'left-alone', why: 'never-ours' })
})

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
  await house.db.pool.query(`INSERT INTO t VALUES ('odd', 'gold', 1), ('zero', 'premium', 0)`)
  register(house, 'odd', 2)
  register(house, 'zero', 2)
  const odd = await ask(house, 'odd')
  expect(odd).toMatchObject({
    verdict: { can: 'yes' },
    next: { kind: 'blocked', why: 'mapping' },
    cure: 'correct',
  })
  expect(told(odd)).toContain('status (not-in-values), expected one of premium')
  expect(told(odd)).not.toContain('gold')
  const zero = await ask(house, 'zero')
  expect(zero).toMatchObject({ verdict: { can: 'yes' }, should: { kind: 'unreadable', code: '22012' } })
})

test('fields that differ are named, never shown', async () => {
  await using house = await buildHouse(lane)
  await house.db.pool.query(
    `INSERT INTO clientes (id, plan, correo, grupo) VALUES ('c', 'premium', 'secret@example.com', 'gold')`,
  )
  register(house, 'c', 2, { email: 'other@example.com' })
  const text = told(await ask(house, 'c'))
  expect(text).toContain('not as in the customer data: email, ml_group_name (ml_group_name decides which')
  expect(text).not.toMatch(/secret|other|gold/)
})

test.each([
  ['401', { can: 'unknown', why: 'denied' }],
  ['403', { can: 'unknown', why: 'denied' }],
  ['429', { can: 'unknown', why: 'later' }],
  ['503 html', { can: 'unknown', why: 'unreadable' }],
  ['200 html', { can: 'unknown', why: 'unreadable' }],
  ['down', { can: 'unknown', why: 'no-answer' }],
])('a GET that is answered %s says nothing about the customer', async (fault, verdict) => {
  const { parseFault } = await import('../../src/sandbox/faults/text.ts')
  await using house = await buildHouse(lane)
  await insert(house, 'c', 'premium')
  register(house, 'c', 2)
  house.sandbox.faults.set([parseFault(`GET ${fault}`)])
  expect(await ask(house, 'c')).toMatchObject({ verdict, next: { kind: 'unsaid' }, cure: null })
})

test('without rollcall in the database, and with rights to read the customers alone, it is answered all the same', async () => {
  await using house = await buildHouse(lane)
  await insert(house, 'c', 'premium')
  register(house, 'c', 0)
  const { pool } = house.db
  const role = `reader_${house.db.name}`
  await pool.query(`CREATE ROLE ${role} LOGIN PASSWORD 'p'; GRANT SELECT ON clientes TO ${role}`)
  const url = new URL(house.db.url)
  url.username = role
  url.password = 'p'
  const { makePool } = await import('../../src/customers/pool.ts')
  const reading = makePool({ url: url.href, max: 1, onError: () => undefined })
  try {
    const asReader = { ...house, db: { ...house.db, pool: reading } }
    expect(await ask(asReader, 'c')).toMatchObject({
      verdict: { why: 'no-access' },
      knowledge: { kind: 'not-readable' },
      cure: 'sync',
    })
    await pool.query('DROP TABLE rollcall.owed CASCADE')
    expect((await ask(asReader, 'c')).knowledge.kind).toBe('not-installed')
  } finally {
    await reading.end()
    await pool.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`)
  }
  await pool.query('DROP SCHEMA rollcall CASCADE')
  expect(await ask(house, 'c')).toMatchObject({ knowledge: { kind: 'not-installed' }, cure: 'migrate' })
})

test('tables of another version are said to be that', async () => {
  await using house = await buildHouse(lane)
  await house.db.pool.query('ALTER TABLE rollcall.ledger RENAME refused TO refusals')
  expect((await ask(house, 'c')).knowledge.kind).toBe('not-migrated')
})

test('records about another service are not shown as if they were about this one', async () => {
  await using house = await buildHouse(lane)
  await insert(house, 'c', 'premium')
  const worker = await house.startWorker()
  await house.settled()
  await worker.stop()
  const other = await startSandbox({
    apiKey: SECRETS.SERVICE_API_KEY,
    secretKey: SECRETS.SERVICE_SECRET_KEY,
  })
  try {
    const elsewhere = await ask(house, 'c', { origin: other.url, ...DIGEST })
    expect(elsewhere).toMatchObject({
      verdict: { why: 'not-registered' },
      knowledge: { kind: 'other-target' },
      cure: 'name-the-target',
    })
    expect(told(elsewhere)).toContain(`SERVICE_URL was ${house.sandbox.url}`)
  } finally {
    await other.stop()
  }
  const rekeyed = await ask(house, 'c', { digestKey: 'another-digest-key-of-thirty-two-chars' })
  expect(told(rekeyed)).toContain('SERVICE_API_KEY (or ROLLCALL_DIGEST_KEY) is another')
  // Without the key it cannot be compared, and is believed.
  expect((await ask(house, 'c')).knowledge.kind).toBe('known')
})

test('a write of a moment ago that the service does not show yet is to be asked for again', async () => {
  await using house = await buildHouse(lane, { config: { timing: { consistencyDelayMs: 60_000 } } })
  await insert(house, 'c', 'premium')
  const worker = await house.startWorker()
  await house.settled()
  await worker.stop()
  house.sandbox.users.edit('c', { status: 0 })
  expect(await ask(house, 'c', DIGEST)).toMatchObject({ next: { status: 2 }, cure: 'ask-again' })
})

test('where a pace is kept, the GET keeps it and its Retry-After binds everybody', async () => {
  await using house = await buildHouse(lane)
  const { pool } = house.db
  await setCeiling(pool, 50)
  await pool.query(`UPDATE rollcall.pace SET next_free = now() - interval '1 day'`)
  house.sandbox.faults.set([
    { match: {}, action: { kind: 'status', status: 503, retryAfter: { form: 'seconds', seconds: 300 } } },
  ])
  await ask(house, 'c')
  const { rows } = await pool.query(
    `SELECT next_free > now() - interval '1 hour' AS taken, not_before > now() + interval '4 minutes' AS held
     FROM rollcall.pace`,
  )
  expect(rows).toEqual([{ taken: true, held: true }])
})
