// The main path against every kind of service that the sandbox can be: the same customers end up right, and what is
// right is not written again.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { note } from '../../src/ledger/note.ts'
import { LANE } from '../../src/model/customer.ts'
import { sameField } from '../../src/model/normal.ts'
import { OPTIONAL_FIELDS } from '../../src/model/user.ts'
import { type House, timed, workingHouse } from '../support/house.ts'
import { otherLane } from '../support/lanes.ts'
import { buildPresetHouse, FULL, insertFull, USER_PRESETS, writesOf } from '../support/presets.ts'
import { until } from '../support/until.ts'

const DAY_MS = 86_400_000

/** The service holds all of it, and nothing besides. */
function expectHeld({ sandbox }: House, userId: string, status: number, changes: object = {}): void {
  const user = sandbox.users.get(userId)
  const wanted: Record<string, unknown> = { ...FULL, ...changes }
  const wrong = OPTIONAL_FIELDS.filter((field) =>
    field === 'country_code'
      ? (user?.[field] ?? null) !== (wanted[field] ?? null)
      : !sameField(field, wanted, user ?? {}),
  )
  expect({ userId, status: user?.status, wrong }).toEqual({ userId, status, wrong: [] })
}

otherLane('the main path against a service of the kind', (lane) => {
  test.concurrent.each(USER_PRESETS)('%s', async (name) => {
    await using house = await buildPresetHouse(lane, name)
    const { db, sandbox } = house
    const refuses = sandbox.contract.now.refuses !== 'nothing'
    sandbox.users.set('old', { status: 0, email: 'someone@example.com', description: 'theirs' })
    await house.startWorker()

    for (const key of ['c', 'old', 'gone', 'lost']) {
      if (key === 'lost')
        sandbox.faults.set([
          { match: { method: 'POST', userId: key }, times: 1, action: { kind: 'drop-after' } },
        ])
      await insertFull(house, key)
    }
    await insertFull(house, 'trial', 'trial')
    await house.settled()
    if (refuses) {
      // Which field it was may not be said: access is synced, the rest waits until one of the fields changes.
      expect(sandbox.users.all().map(({ user_id, status }) => [user_id, status])).toEqual(
        expect.arrayContaining([...['c', 'old', 'gone', 'lost'].map((key) => [key, 2]), ['trial', 4]]),
      )
      await db.sql(`UPDATE clientes SET notas = NULL WHERE id = 'trial'`)
      await house.settled()
    } else for (const key of ['c', 'old', 'gone', 'lost']) expectHeld(house, key, 2)
    expectHeld(house, 'trial', 4, refuses ? { description: null } : {})
    if (!refuses) {
      // The worker sends the field that no GET shows once more; twice where the answer says neither yes nor no.
      const again = { method: 'PATCH', body: { status: 2, country_code: 'ES' } }
      const unclear = sandbox.contract.now.updateBody === 'null'
      expect(writesOf(house, 'lost').slice(1)).toEqual(unclear ? [again, again] : [again])
    }

    sandbox.users.delete('gone')
    const changes = { email: 'ana@example.org', mobile_phone: '600999888', description: null }
    await db.sql(`UPDATE clientes SET correo = $1, movil = $2, notas = NULL WHERE id <> 'trial'`, [
      changes.email,
      changes.mobile_phone,
    ])
    await house.settled()
    for (const key of ['c', 'old', 'gone', 'lost']) expectHeld(house, key, 2, changes)
    // On a busy machine an answer may come too late: then what no GET shows is sent once more.
    const late = await db.sql(`SELECT FROM rollcall.call WHERE key = 'c' AND meaning = 'unknown'`)
    if (!refuses && late.rowCount === 0)
      expect(writesOf(house, 'c').slice(1)).toEqual([{ method: 'PATCH', body: { status: 2, ...changes } }])

    sandbox.clock.advance(15 * DAY_MS)
    expect(sandbox.users.access('trial')).toBe('trial-over')
    await db.sql(`UPDATE clientes SET correo = 'b@example.org' WHERE id = 'trial'`)
    await house.settled()
    expect(sandbox.users.access('trial')).not.toBe('trial')
    expect(sandbox.users.get('trial')?.email).toBe('b@example.org')

    await db.sql(`DELETE FROM clientes WHERE id = 'c'`)
    await house.settled()
    expect(sandbox.users.get('c')?.status).toBe(0)
    expect(writesOf(house, 'c').at(-1)).toEqual({ method: 'PATCH', body: { status: 0 } })

    const before = writesOf(house).length
    const keys = ['c', 'old', 'gone', 'lost', 'trial']
    await note(
      db.pool,
      keys.map((key) => ({ key, lane: LANE.change, at: new Date() })),
    )
    await house.settled()
    expect(writesOf(house).slice(before)).toEqual([])
  })
})

otherLane('a service that shows writes late', (lane) => {
  test('does not make a trial that has just begun look like one that has ended', async () => {
    await using house = await buildPresetHouse(lane, 'lagging')
    await house.startWorker()
    house.sandbox.users.set('c', { status: 0 })
    await insertFull(house, 'c', 'trial')
    await house.settled()
    await house.settle(`UPDATE clientes SET correo = 'b@example.org'`)
    expectHeld(house, 'c', 4, { email: 'b@example.org' })
    expect(house.sandbox.users.access('c')).toBe('trial')
  })
  test('and says null to every write: a change while it is looked up is not lost', async () => {
    const lag = 400
    const contract = { updateBody: 'null', visibleAfterMs: lag } as const
    await using house = await workingHouse(lane, { contract, config: timed({ consistencyDelayMs: 600 }) })
    await insertFull(house, 'c')
    await house.settled()
    await sleep(lag)
    const lookups = () => house.calls('c').filter(({ method }) => method === 'GET').length
    await house.sql(`UPDATE clientes SET plan = 'free'`)
    await until(() => lookups() > 0)
    await house.settle(`UPDATE clientes SET plan = 'premium'`)
    expectHeld(house, 'c', 2)
  })
})
