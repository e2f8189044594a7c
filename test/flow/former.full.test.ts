// Most customers have left: a service that has lost all users shows nothing new of them, and must not pass as in agreement.
import { expect, test } from 'vitest'
import { runDrift } from '../support/drift-command.ts'
import type { House } from '../support/house.ts'
import { postgres as lane } from '../support/lanes.ts'
import { named, settledHouse } from '../support/settled-house.ts'
import { until } from '../support/until.ts'

const STAY = ['s0', 's1', 's2', 's3', 's4', 's5']
const LEFT = Array.from({ length: 14 }, (_, n) => `l${n}`)

/** Eight have no row any more and six are out of scope; all are registered at the service, none has access. */
async function buildChurned() {
  const config = {
    scope: { column: 'plan', in: ['premium', 'free'] },
    reconcile: { period: '2s', mode: 'repair' as const },
  }
  const house = await settledHouse(lane, named([...STAY, ...LEFT]), { config })
  const worker = await house.startWorker()
  await house.sql('DELETE FROM clientes WHERE id = ANY($1)', [LEFT.slice(0, 8)])
  await house.sql(`UPDATE clientes SET plan = 'none' WHERE id = ANY($1)`, [LEFT.slice(8)])
  await until(() => LEFT.every((key) => house.sandbox.users.get(key)?.status === 0), { what: 'revocations' })
  await house.settled()
  return { house, worker }
}

const writes = ({ sandbox }: House) => sandbox.journal.list().filter(({ method }) => method !== 'GET').length

test('an emptied service is not credible where most customers are former ones, and creates no customer', async () => {
  const { house: churned, worker } = await buildChurned()
  await using house = churned
  const before = writes(house)
  house.sandbox.users.clear()
  const missed = `SELECT FROM rollcall.finding WHERE kind = 'missing' HAVING count(*) = ${STAY.length}`
  await until(async () => (await house.sql(missed)).rowCount === 1, { what: 'all to be missed' })
  // A report on former users alone does not confirm it either, because it shows nothing new.
  for (const args of [['--repair'], ['--repair'], ['--where', "plan = 'none'"]]) {
    const { code, out } = await runDrift(house, ['--json', ...args])
    expect({ code, ...JSON.parse(out) }, args.join(' ')).toMatchObject({
      ...{ code: 1, conclusion: 'not-credible', findings: [] },
      outcome: { why: 'many-missing' },
    })
  }
  await worker.stop()
  expect(writes(house)).toBe(before)
})

test('former users who are deleted there do not stop checks for long', async () => {
  const { house: churned, worker } = await buildChurned()
  await using house = churned
  await worker.stop()
  for (const key of LEFT) house.sandbox.users.delete(key)
  await runDrift(house, ['--json'])
  house.sandbox.users.edit('s0', { status: 0 })
  house.sandbox.users.delete('s1')
  const { code, out } = await runDrift(house, ['--json'])
  expect({ code, ...JSON.parse(out) }).toMatchObject({
    code: 3,
    counts: { kinds: { missing: 1, differs: 1 } },
  })
})

test('a service that is emptied while a run goes on is not one with which every customer agrees', async () => {
  await using house = await settledHouse(lane, named(Array.from({ length: 60 }, (_, n) => `k${n}`)))
  const running = runDrift(house, ['--json', '--rate', '40'])
  await until(() => house.calls().filter(({ method }) => method === 'GET').length >= 45, {
    what: 'most checks',
  })
  house.sandbox.users.clear()
  const { code, out } = await running
  expect({ code, ...JSON.parse(out) }).toMatchObject({ code: 1, conclusion: 'not-credible', findings: [] })
})
