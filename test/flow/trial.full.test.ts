// Status 4 is a trial that ends at the service: a customer gets only one, unless its own plan grants another.
import { expect, test } from 'vitest'
import type { FaultInput } from '../../src/sandbox/faults/faults.ts'
import { rollcall } from '../support/command.ts'
import { buildHouse, type House, timed } from '../support/house.ts'
import { otherLane } from '../support/lanes.ts'
import { writesOf } from '../support/presets.ts'
import { runRollcall } from '../support/process.ts'
import { settledHouse } from '../support/settled-house.ts'
import { until } from '../support/until.ts'

const DAY_MS = 86_400_000

/** Every write of status 4 starts the trial anew: the service at which a mistake costs the most. */
const contract = { trialAgain: 'restarts' } as const

const inTrial = (keys: readonly string[]) =>
  `INSERT INTO clientes (id, plan, correo) SELECT k, 'trial', 'a@a.es' FROM unnest('{${keys.join()}}'::text[]) k`

const grants = (house: House, key?: string) =>
  writesOf(house, key).filter(({ body }) => (body as { status?: number }).status === 4)

const read = (house: House, key: string) => {
  const { status, email } = house.sandbox.users.get(key) ?? {}
  return { status, email, access: house.sandbox.users.access(key) }
}

async function run(house: House, ...args: readonly string[]): Promise<void> {
  const { code, output } = await rollcall(house, ...args)
  expect([code, output.slice(-300)]).toMatchObject([0, {}])
}

/** All of the calls have to be under way at once, on a busy machine as well. */
const SLOW = { service: { timeoutMs: 2000 }, ...timed({ lifetimeMs: 6000 }) }

/** A worker that is killed while these calls wait for their answer, with their marks still mapping. */
async function killedIn(
  house: House,
  faults: readonly FaultInput[],
  change: () => Promise<unknown>,
  calls = 1,
) {
  const { sandbox, db } = house
  await using worker = await runRollcall({ ...house, authored: { ...house.authored, ...SLOW } }, ['worker'])
  sandbox.faults.set(faults)
  const before = sandbox.journal.last
  await change()
  const struck = () => sandbox.journal.list({ after: before }).filter(({ faults }) => faults.length > 0)
  await until(() => struck().length === calls, { what: 'calls without an answer' })
  worker.kill('SIGKILL')
  await worker.exited
  sandbox.faults.set([])
  const { rowCount } = await db.sql('SELECT FROM rollcall.owed WHERE call_token IS NOT NULL')
  expect(rowCount, 'killed before it knew').toBe(calls)
}

otherLane('a trial that ended at the service', (lane) => {
  test('is not granted again by an edit, a repair run, a resync or a crash, and is by a plan that changes', async () => {
    await using house = await buildHouse(lane, { contract })
    const { clock, faults } = house.sandbox
    const edit = (email: string) => house.sql('UPDATE clientes SET correo = $1', [email])
    const first = await house.startWorker()
    await house.settle(`INSERT INTO clientes (id, plan, correo) VALUES ('c', 'trial', 'a@a.es')`)
    expect(read(house, 'c')).toEqual({ status: 4, email: 'a@a.es', access: 'trial' })

    clock.advance(15 * DAY_MS)
    await edit('b@a.es')
    await house.settled()
    expect(writesOf(house, 'c').at(-1)).toEqual({ method: 'PATCH', body: { status: 0, email: 'b@a.es' } })

    const before = writesOf(house).length
    await run(house, 'sync', 'c', '--lookup')
    await run(house, 'capture', 'resync')
    await house.settled()
    await run(house, 'sync', 'c', '--lookup')
    expect(writesOf(house).slice(before)).toEqual([])
    // rollcall repairs the edit of another system, and nothing else.
    house.sandbox.users.edit('c', { email: 'theirs@a.es' })
    await run(house, 'sync', 'c', '--lookup')
    expect(writesOf(house).slice(before)).toEqual([{ method: 'PATCH', body: { status: 0, email: 'b@a.es' } }])

    await first.stop()
    const match = { method: 'PATCH', field: 'email' } as const
    await killedIn(house, [{ match, action: { kind: 'hang-after' } }], () => edit('c@a.es'))
    const second = await house.startWorker()
    await house.settled()
    expect(read(house, 'c')).toEqual({ status: 0, email: 'c@a.es', access: 'none' })
    await second.stop()
    await killedIn(house, lost(match), () => edit('d@a.es'))
    await house.startWorker()
    await house.settled()
    expect(read(house, 'c')).toEqual({ status: 0, email: 'd@a.es', access: 'none' })
    faults.set([{ match, times: 1, action: { kind: 'drop-after' } }])
    await edit('e@a.es')
    await house.settled()
    expect(read(house, 'c')).toEqual({ status: 0, email: 'e@a.es', access: 'none' })
    expect(grants(house)).toHaveLength(1)

    await house.settle(`UPDATE clientes SET plan = 'premium'`)
    expect(read(house, 'c')).toMatchObject({ status: 2, access: 'full' })
    await house.settle(`UPDATE clientes SET plan = 'trial'`)
    expect(read(house, 'c')).toEqual({ status: 4, email: 'e@a.es', access: 'trial' })
    expect(grants(house)).toHaveLength(2)
    expect(grants(house)[1]).toEqual({ method: 'PATCH', body: { status: 4 } })
  })

  test('while a worker that had carried it on was dead is not granted again', async () => {
    const keys = ['stored', 'lost']
    await using house = await settledHouse(lane, inTrial(keys), { contract })
    const change = () => house.sql(`UPDATE clientes SET correo = 'b@a.es'`)
    const match = (userId: string) => ({ method: 'PATCH', userId }) as const
    const faults: FaultInput[] = [
      { match: match('stored'), action: { kind: 'hang-after' } },
      ...lost(match('lost')),
    ]
    await killedIn(house, faults, change, 2)
    const before = grants(house).length
    house.sandbox.clock.advance(15 * DAY_MS)
    await house.startWorker()
    await house.settled()
    for (const key of keys) expect(read(house, key)).toEqual({ status: 0, email: 'b@a.es', access: 'none' })
    // The registrations, and an e-mail each with the status that the service showed then.
    expect([before, grants(house).length]).toEqual([4, 4])
  })
})

/** Never carried out, and answered only after every timeout. */
function lost(match: FaultInput['match'] & object): FaultInput[] {
  return [
    { match, action: { kind: 'latency', minMs: 60_000, maxMs: 60_000 } },
    { match, action: { kind: 'drop-before' } },
  ]
}

otherLane('a worker killed while it takes customers out of their trial', (lane) => {
  // Few enough to be under way at once in a process that does not know yet whether its keys are taken.
  const cases = (['stored', 'lost'] as const).flatMap((fate) =>
    (['premium', 'free'] as const).map((via) => [fate, via] as const),
  )
  test.each(cases)(
    'and each ends as its row says, no customer shut out: the calls were %s, by way of %s',
    async (fate, via) => {
      // By what the plan was changed to, and what it is once the worker is dead.
      const ends = { premium: 2, free: 0, trial: 4 } as const
      const ways = Object.keys(ends).map((end) => `${via} ${end}`)
      await using house = await settledHouse(lane, inTrial(ways))
      const match = { method: 'PATCH' } as const
      const faults = fate === 'lost' ? lost(match) : [{ match, action: { kind: 'hang-after' } } as const]
      const change = () => house.sql(`UPDATE clientes SET plan = split_part(id, ' ', 1)`)
      await killedIn(house, faults, change, ways.length)
      await house.sql(`UPDATE clientes SET plan = split_part(id, ' ', 2)`)
      await house.startWorker()
      await house.settled()
      const found = ways.map((key) => [key, house.sandbox.users.get(key)?.status])
      expect(found).toEqual(ways.map((key) => [key, ends[key.split(' ')[1] as keyof typeof ends]]))
    },
  )
})
