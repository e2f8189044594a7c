// `rollcall drift` while customers come and go: real database, worker and sandbox.
import { expect, test } from 'vitest'
import { LANE } from '../drift/scene.ts'
import { runDrift } from '../support/drift-command.ts'
import { named, settledHouse } from '../support/settled-house.ts'
import { until } from '../support/until.ts'

const KEYS = Array.from({ length: 45 }, (_, at) => `k${String(at).padStart(2, '0')}`)
const CHECKED = `SELECT key FROM rollcall.ledger WHERE checked_at > (SELECT max(started_at) FROM rollcall.run WHERE kind = 'drift')`

test('a run that is stopped counts each customer once, though others come and go meanwhile', async () => {
  await using house = await settledHouse(LANE, named(KEYS))
  const stop = new AbortController()
  const stopped = runDrift(house, ['--rate', '10'], { stop: stop.signal })
  // The first thirty are drawn, and left out of the pages.
  await until(async () => (await house.sql(CHECKED)).rows.length >= 34, { what: 'some of those in order' })
  stop.abort()
  expect((await stopped).code).toBe(1)
  const { rows } = await house.sql<{ key: string }>(CHECKED)
  expect(rows.length).toBeLessThan(KEYS.length)
  const worker = await house.startWorker()
  await house.sql('DELETE FROM clientes WHERE id = ANY($1)', [rows.map(({ key }) => key)])
  await house.settle(named(KEYS.map((key) => `before-${key}`)))
  await worker.stop()

  const { code, out } = await runDrift(house, ['--rate', '500', '--json'])
  const { population, chosen, counts } = JSON.parse(out)
  expect({ code, population, chosen, counts }).toMatchObject({
    ...{ code: 0, population: 45, chosen: 45 },
    counts: { checked: 45, agrees: 45 },
  })
})

test('without a call every customer with a record stands in one line, also who was never in scope', async () => {
  const config = { scope: { column: 'pais', in: ['ES'] } }
  const customers = `INSERT INTO clientes (id, plan, pais) SELECT k, 'premium', CASE WHEN k < 'd' THEN 'ES' ELSE 'PT' END
    FROM unnest('{a,b,c,d,e}'::text[]) k; UPDATE clientes SET nombre = 'Ana'`
  await using house = await settledHouse(LANE, customers, { config })
  expect((await runDrift(house, [])).code).toBe(0)
  const { code, out } = await runDrift(house, ['--from-ledger'])
  expect(code).toBe(0)
  expect(out).toMatch(/^ *customers +5 that/m)
  expect(out).toMatch(/^checked +3$/m)
  expect(out).toMatch(/^skipped: not-ours +2 /m)
  expect(out).toContain('No drift: 3 customers were checked.')
})
