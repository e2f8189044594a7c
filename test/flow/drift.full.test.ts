// `rollcall drift` beside workers and changes: it finds changes at the service, and does not go by a service that
// is not credible.
import { expect, test } from 'vitest'
import { readVerification } from '../../src/drift/coverage.ts'
import { runDrift } from '../support/drift-command.ts'
import { buildHouse, type House, PATIENT, timed } from '../support/house.ts'
import { postgres as lane, otherLane } from '../support/lanes.ts'
import { whileChanging } from '../support/settled-house.ts'

/** Users changed in each way; more would take too long on a small machine. */
const EACH = Number(process.env.DRIFT_EACH ?? 10)

const keysOf = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `${prefix}${n}`)

/** All customers are registered, and a worker runs. */
async function settle(house: House, keys: readonly string[]) {
  const worker = await house.startWorker()
  await house.settle(
    `INSERT INTO clientes (id, plan, correo, nombre, movil, prefijo)
     SELECT k, 'premium', k || '@Example.com', 'Ana', '612345678', '34' FROM unnest($1::text[]) AS k`,
    [keys],
  )
  return worker
}

async function report(house: House, args: readonly string[] = []) {
  const { code, out, err } = await runDrift(house, ['--json', ...args])
  return { code, err, report: JSON.parse(out) }
}

otherLane('users who were changed at the service', (lane) => {
  test('are found as what they are, while others change, and no others are', async () => {
    const [names, mails, shut] = [keysOf('n', EACH), keysOf('m', EACH), keysOf('s', EACH)]
    const [gone, entitled, live] = [keysOf('g', EACH), keysOf('e', EACH), keysOf('l', EACH)]
    // The workers' own checks read the same customers meanwhile.
    const mass = { customers: 7 * EACH, share: 1 }
    const config = { ...PATIENT, reconcile: { period: '5s' }, brake: { changes: mass, creates: mass } }
    await using house = await buildHouse(lane, { config })
    await settle(house, [...names, ...mails, ...shut, ...gone, ...entitled, ...live])
    await house.settle('DELETE FROM clientes WHERE id = ANY($1)', [entitled])
    const { users } = house.sandbox
    for (const key of names) users.edit(key, { first_name: 'Eva' })
    for (const key of mails) users.edit(key, { email: 'other@example.org', description: 'theirs' })
    for (const key of shut) users.edit(key, { status: 0 })
    for (const key of gone) users.delete(key)
    for (const key of entitled) users.edit(key, { status: 2 })
    const { code, report: found } = await whileChanging(house, live, () => report(house))
    expect(code).toBe(3)
    type Reported = Record<'key' | 'kind' | 'fields' | 'access' | 'cause', string>
    const said = found.findings.map(({ key, kind, fields, access, cause }: Reported) =>
      [key, kind, fields, access, cause].join(' '),
    )
    const expected = [
      ...entitled.map((key) => `${key} unexpected-access  undue edited-at-service`),
      ...gone.map((key) => `${key} missing  lost edited-at-service`),
      ...names.map((key) => `${key} differs first_name  edited-at-service`),
      ...mails.map((key) => `${key} differs email,description  edited-at-service`),
      ...shut.map((key) => `${key} differs status lost edited-at-service`),
    ]
    const { counts, suspected, outcome } = found
    expect({ said: said.sort(), skipped: counts.skipped, suspected, outcome }).toMatchObject({
      ...{ said: expected.sort(), suspected: 0, outcome: { kind: 'complete' } },
    })
  })
})

test('a service with forms of its own that shows writes late: no drift, while customers change', async () => {
  const contract = { email: 'lower-case', phone: 'formatted', visibleAfterMs: 400 } as const
  const config = timed({ consistencyDelayMs: 500, lifetimeMs: 3000 })
  await using house = await buildHouse(lane, { contract, config })
  const keys = keysOf('c', 24)
  await settle(house, keys)
  const { code, report: found } = await whileChanging(house, keys.slice(0, 4), () => report(house))
  expect(found.findings).toEqual([])
  expect(found.suspected).toBe(0)
  expect(found.counts.checked).toBeGreaterThanOrEqual(20)
  expect(code).toBe(0)
})

test('a service that is not credible gets no findings, few calls, and no writes', async () => {
  await using house = await buildHouse(lane)
  const worker = await settle(house, keysOf('c', 80))
  await worker.stop()
  const { users, faults } = house.sandbox
  const registered = users.all()
  const askedBy = async (args: readonly string[], env = {}) => {
    const before = house.calls().length
    const { code, out } = await runDrift(house, ['--json', '--repair', ...args], { env })
    const { outcome, findings, conclusion, headline, counts } = JSON.parse(out)
    expect({ code, conclusion, findings }).toEqual({ code: 1, conclusion: 'not-credible', findings: [] })
    const calls = house.calls().slice(before)
    expect(calls.filter(({ method }) => method !== 'GET')).toEqual([])
    return { why: outcome.why, headline, calls: calls.length, missing: counts.kinds.missing }
  }

  const denied = await askedBy([], { SERVICE_SECRET_KEY: 'another' })
  expect(denied).toMatchObject({ why: 'denied', headline: expect.stringContaining('keys') })
  expect(denied.calls).toBeLessThanOrEqual(30)

  users.clear()
  const emptied = await askedBy([])
  expect(emptied.why).toBe('many-missing')
  expect(emptied.missing).toBeGreaterThanOrEqual(30)
  // The first thirty, twice, a sample or two, and on a slow machine some of them once more.
  expect(emptied.calls).toBeLessThanOrEqual(150)
  const owed = await house.sql('SELECT FROM rollcall.owed WHERE due_at IS NOT NULL')
  expect(owed.rowCount).toBe(0)
  const { open } = await readVerification(house.db.pool, house.config.reconcile.periodMs)
  expect(Object.values(open)).toEqual(Object.values(open).map(() => 0))
  const { report: known } = await report(house, ['--from-ledger'])
  expect(known).toMatchObject({ conclusion: 'not-credible', findings: [], counts: { checked: 0, kinds: {} } })
  expect(known.trend.at(-1)).toMatchObject({ credible: false, drifting: null })
  // Workers check again the users found missing, so that this ends with the mistake.
  const { rows } = await house.sql(
    'SELECT count(*)::int AS open, count(next_check_at)::int AS next FROM rollcall.finding WHERE resolved_at IS NULL',
  )
  expect(rows[0].open).toBeGreaterThan(0)
  expect(rows[0].next).toBe(rows[0].open)

  for (const { user_id, ...user } of registered) users.set(user_id, user)
  const edited = registered.slice(0, 8).map(({ user_id }) => user_id)
  for (const user of edited) users.edit(user, { first_name: 'Eva' })
  const { report: after } = await report(house)
  expect(after.counts).toMatchObject({ kinds: { differs: 8 }, fields: { first_name: 8 }, access: {} })
  expect(await readVerification(house.db.pool, house.config.reconcile.periodMs)).toMatchObject({
    notCredible: null,
  })
  faults.set([{ action: { kind: 'status', status: 500 } }])
  const silent = await askedBy(['--sample', '40'])
  expect(silent.why).toBe('no-answers')
  expect(silent.calls).toBeLessThanOrEqual(30)
})
