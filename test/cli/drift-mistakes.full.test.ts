// The errors of `rollcall drift`, and its selection of customers by `--where`.

import { expect, test } from 'vitest'
import { alone } from '../../src/ledger/alone.ts'
import { LANE } from '../drift/scene.ts'
import { freshDatabase } from '../support/database.ts'
import { runDrift } from '../support/drift-command.ts'
import { type House, SECRETS } from '../support/house.ts'
import { ofFile } from '../support/of-file.ts'
import { settledHouse } from '../support/settled-house.ts'
import { until } from '../support/until.ts'

const house = ofFile(() =>
  settledHouse(
    LANE,
    `INSERT INTO clientes (id, plan, nombre, correo) VALUES ('a', 'premium', 'Ana', 'ana@example.com'),
       ('b', 'premium', 'Eva', NULL), ('c', 'free', 'Ana', NULL), ('o''k', 'free', 'Ada', NULL)`,
  ),
)

async function mistaken(args: readonly string[], over: Partial<House> = {}, env = {}) {
  const before = house.calls().length
  const { code, out, err } = await runDrift({ ...house, ...over }, args, { env })
  expect(out).toBe('\n')
  for (const secret of Object.values(SECRETS)) expect(err).not.toContain(secret)
  expect(err).not.toMatch(/^\s+at .+:\d+:\d+/m)
  expect(house.calls()).toHaveLength(before)
  return { code, err }
}

test('a file that cannot be written is said before any customer is asked', async () => {
  const { code, err } = await mistaken(['--output', 'nowhere/report.html'])
  expect(code).toBe(2)
  expect(err).toContain('--output: its folder')
  expect((await mistaken(['--output', '.'])).err).toContain('no file')
})

test('conditions choose whom it is about, and stand in no table', async () => {
  house.sandbox.users.edit('a', { first_name: 'Ida' })
  house.sandbox.users.edit('b', { first_name: 'Ida' })
  const where = ['--where', 'nombre=Ana', '--where', 'plan in premium,trial']
  const { code, out } = await runDrift(house, ['--json', ...where])
  expect(code).toBe(3)
  const { population, findings, options, trend } = JSON.parse(out)
  expect({ population, options, trend }).toMatchObject({
    population: 1,
    options: { where: 'nombre=Ana and plan in premium,trial' },
    trend: [],
  })
  expect(findings.map(({ key }: { key: string }) => key)).toEqual(['a'])
  const quoted = await runDrift(house, ['--json', '--where', "id='o''k'"])
  expect(quoted.code).toBe(0)
  expect(JSON.parse(quoted.out).counts.checked).toBe(1)
  const { rows } = await house.sql('SELECT jsonb_agg(r)::text AS text FROM rollcall.run r')
  expect(rows[0].text).not.toMatch(/Ana|nombre/)
})

test('a condition that no customer meets makes no check pass', async () => {
  const { code, out } = await runDrift(house, ['--where', 'plan=Premium'])
  expect(code).toBe(1)
  expect(out).toMatch(/no customer fits --where/)
})

test('a customer that the brake holds is drift, of a run and without a call, within what is tolerated', async () => {
  await house.sql(`UPDATE rollcall.ledger SET state = 'held' WHERE key = 'c'`)
  const where = ['--where', 'plan=free']
  const held = await runDrift(house, ['--json', ...where])
  expect(held.code).toBe(3)
  expect(JSON.parse(held.out)).toMatchObject({
    ...{ conclusion: 'drift', drifting: 0, held: 1, share: 0.5 },
    headline: expect.stringContaining('brake'),
  })
  expect(held.err).toMatch(
    /^rollcall: 1 of 2 checked or held customers.+held by the brake.+\n.+rollcall held/,
  )
  expect((await runDrift(house, ['--max-drift', '50%', ...where])).code).toBe(0)
  expect((await runDrift(house, ['--max-drift', '49%', ...where])).code).toBe(3)
  const known = await runDrift(house, ['--json', '--from-ledger'])
  expect(JSON.parse(known.out)).toMatchObject({ conclusion: 'drift', held: 1 })
  await house.sql(`UPDATE rollcall.ledger SET state = 'idle' WHERE key = 'c'`)
})

test('a customer that the brake holds counts for access, also where the report passes: who would lose it, and who waits for it', async () => {
  const worker = await house.startWorker()
  const [gone, raised, unasked] = [['d', 'e', 'f'], 'c', 'g']
  await house.settle(`INSERT INTO clientes (id, plan) SELECT unnest($1::text[]), 'premium'`, [gone])
  await house.sql(`INSERT INTO rollcall.brake (kind, tripped_at, tripped_at_limit)
    SELECT kind, now(), 0 FROM unnest('{revocation,status,create}'::text[]) AS k (kind)
    ON CONFLICT (kind) DO UPDATE SET tripped_at = now(), tripped_at_limit = 0`)
  await house.sql('DELETE FROM clientes WHERE id = ANY($1)', [gone])
  await house.sql(`UPDATE clientes SET plan = 'premium' WHERE id = $1`, [raised])
  await house.sql(`INSERT INTO clientes (id, plan) VALUES ($1, 'premium')`, [unasked])
  const held = `SELECT FROM rollcall.ledger WHERE state = 'held'`
  await until(async () => (await house.sql(held)).rowCount === 5, { what: 'five who are held' })
  await worker.stop()

  const wrong = { access: { lost: 1, undue: 3 }, heldAccess: { lost: 1, undue: 3 } }
  for (const args of [[], ['--sample', '1000'], ['--from-ledger']]) {
    const { code, out } = await runDrift(house, ['--json', '--max-drift', '100%', ...args])
    expect(code).toBe(0)
    const { conclusion, headline, counts, ...report } = JSON.parse(out)
    expect({ conclusion, held: report.held, counts }).toMatchObject({
      ...{ conclusion: 'tolerated', held: 5 },
      counts: wrong,
    })
    expect(headline).toMatch(
      /^1 customer is wrongly without access \(held [^)]+\), 3 are wrongly with .+ \(all 3 held [^)]+\)\. /,
    )
  }
  const ended = await runDrift(house, ['--where', 'plan=premium'])
  // A removed customer has no row, and meets no condition.
  expect(ended.out).toMatch(/^access lost +1 /m)
  expect(ended.out).not.toMatch(/^access undue/m)

  await house.sql(`UPDATE clientes SET plan = 'free' WHERE id = $1`, [raised])
  await house.sql('DELETE FROM clientes WHERE id = $1', [unasked])
  await house.sql('UPDATE rollcall.brake SET tripped_at = NULL')
  await house.sql(`DELETE FROM rollcall.owed WHERE key = ANY($1)`, [[...gone, unasked]])
  await house.sql(`DELETE FROM rollcall.ledger WHERE key = ANY($1)`, [[...gone, unasked]])
  const again = await house.startWorker()
  await house.settled()
  await again.stop()
})

test('the reason for no report goes to the terminal, though the report goes to a file', async () => {
  const { code, out, err } = await runDrift(
    house,
    ['--rate', '9999', '--format', 'csv', '--output', 'report.csv'],
    { env: { SERVICE_SECRET_KEY: 'another' } },
  )
  expect({ code, out }).toEqual({ code: 1, out: '\n' })
  expect(err).toMatch(
    // The run may give up the keys before it has checked all customers.
    /refuses the keys\.\n[3-7] checks: .*refused[\s\S]+rollcall pace/,
  )
  expect(err).toMatch(/^note: .*pace .*--rate 9999/)
})

test('environment, configuration, tables: each with its code', async () => {
  expect(await mistaken([], {}, { SERVICE_SECRET_KEY: undefined })).toMatchObject({ code: 2 })
  expect((await mistaken(['--config', 'none.js'])).code).toBe(2)
  await using empty = await freshDatabase({ empty: true })
  const unmigrated = { env: { ...house.env, DATABASE_URL: empty.url } }
  for (const args of [[], ['--from-ledger']]) {
    const { code, err } = await mistaken(args, unmigrated)
    expect(code).toBe(2)
    expect(err).toContain('rollcall migrate')
  }
})

test('another service, another mapping, a gap: nothing is compared', async () => {
  const other = { SERVICE_URL: 'http://127.0.0.1:9' }
  expect(await mistaken([], {}, other)).toMatchObject({
    code: 2,
    err: expect.stringContaining('migrate --target'),
  })
  const changed = { ...house.authored, mapping: { ...house.authored.mapping, coverage_name: 'grupo' } }
  expect(await mistaken([], { authored: changed })).toMatchObject({
    code: 2,
    err: expect.stringContaining('rollcall backfill --mapping'),
  })
  await house.sql(`INSERT INTO rollcall.capture_mark (kind, relation) VALUES ('overflow', 'public.clientes')`)
  expect(await mistaken([])).toMatchObject({ code: 1, err: expect.stringContaining('capture has a gap') })
  await house.sql('DELETE FROM rollcall.capture_mark')
})

test('two at a time: the second waits, says so, and can be stopped', async () => {
  const other = Promise.withResolvers<null>()
  const begun = Promise.withResolvers<void>()
  const held = alone(house.db.pool, 'run', () => {
    begun.resolve()
    return other.promise
  })
  await begun.promise
  const stop = new AbortController()
  const said: string[] = []
  const waiting = runDrift(house, [], { stop: stop.signal, onErr: (line) => said.push(line) })
  await expect.poll(() => said.join()).toContain('under way')
  stop.abort()
  expect((await waiting).code).toBe(1)
  other.resolve(null)
  await held
})

test('a report without checks on a database that no worker has met', async () => {
  await using db = await freshDatabase()
  const { code, err } = await mistaken(['--from-ledger'], { env: { ...house.env, DATABASE_URL: db.url } })
  expect(code).toBe(1)
  expect(err).toContain('no worker')
})
