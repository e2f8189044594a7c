import { expect, test } from 'vitest'
import { buildHouse, type House, timed } from '../support/house.ts'
import { otherLane } from '../support/lanes.ts'
import { runRollcall } from '../support/process.ts'
import { until } from '../support/until.ts'

const INSERT = `INSERT INTO clientes (id, plan) VALUES ('c', 'premium')`

/** A call lasts until its worker is suspended, on a busy machine as well. */
const SLOW = { service: { timeoutMs: 2000 }, ...timed({ lifetimeMs: 6000 }) }

/** Brings customer c to a stage of its way, in the one worker that runs; gives what lets it go on. */
type Stage = (house: House) => Promise<() => Promise<unknown>>

const owed = async ({ db }: House, where: string) =>
  (await db.sql(`SELECT FROM rollcall.owed WHERE key = 'c' AND ${where}`)).rowCount === 1

const nextPermit = ({ db }: House, within: string) =>
  db.sql(`UPDATE rollcall.pace SET next_free = clock_timestamp() + $1::interval`, [within])

async function waitingForPermit(house: House): Promise<() => Promise<unknown>> {
  await nextPermit(house, '9 seconds')
  await house.sql(INSERT)
  await until(() => owed(house, 'token IS NOT NULL'))
  return () => nextPermit(house, '0')
}

async function claimed(house: House): Promise<() => Promise<unknown>> {
  const goOn = await waitingForPermit(house)
  const lock = await house.db.pool.connect()
  await lock.query('BEGIN; LOCK TABLE clientes IN ACCESS EXCLUSIVE MODE')
  await goOn()
  await until(() => owed(house, 'call_token IS NOT NULL'))
  // The table has the same number in the database of every test, and the view shows the locks of all of them.
  const waits = `SELECT FROM pg_locks WHERE relation = 'clientes'::regclass AND NOT granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
  await until(async () => (await house.sql(waits)).rowCount)
  return async () => {
    await lock.query('ROLLBACK')
    lock.release()
  }
}

async function calling(house: House): Promise<() => Promise<unknown>> {
  house.sandbox.faults.set([{ match: { method: 'POST' }, times: 1, action: { kind: 'hang-after' } }])
  await house.sql(INSERT)
  await until(() => house.sandbox.users.get('c'))
  return async () => undefined
}

const STAGES: readonly { readonly stage: string; readonly reach: Stage; readonly called: boolean }[] = [
  { stage: 'while its job waits for a permit', reach: waitingForPermit, called: false },
  { stage: 'between the claim and the call', reach: claimed, called: false },
  { stage: 'in the midst of the call', reach: calling, called: true },
]

otherLane('a worker that is suspended for longer than a claim lasts', (lane) => {
  test.each(STAGES)('sends nothing late: $stage', async ({ reach, called }) => {
    await using house = await buildHouse(lane, { config: SLOW })
    await using suspended = await runRollcall(house, ['worker'])
    await until(() => suspended.output().includes('the worker runs'))
    const goOn = await reach(house)
    suspended.kill('SIGSTOP')
    await goOn()

    const other = await house.startWorker()
    await until(() => house.sandbox.users.get('c')?.status === 2 && owed(house, 'due_at IS NULL'))
    await house.settled()
    await other.stop()
    const before = house.calls('c')

    suspended.kill('SIGCONT')
    await house.sql(`INSERT INTO clientes (id, plan) VALUES ('d', 'trial')`)
    await until(() => house.sandbox.users.get('d')?.status === 4)
    await house.settled()
    // Its late ending makes the customer suspect: a new claim makes a lookup, and sends again what no lookup can show.
    const anew = [
      { method: 'GET', body: undefined },
      { method: 'PATCH', body: { status: 2, country_code: null } },
    ]
    expect(house.calls('c').slice(before.length)).toEqual(called ? anew : [])
    expect(before.filter(({ method }) => method === 'POST')).toHaveLength(1)
    suspended.kill('SIGTERM')
    expect(await suspended.exited).toEqual({ code: 0, signal: null })
  })
})
