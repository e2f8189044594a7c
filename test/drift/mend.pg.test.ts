// Whoever a run has found is owed a repair, or is said to be left; with real tables and a service.
import { expect, test } from 'vitest'
import type { Circumstances } from '../../src/drift/allowance.ts'
import { makeGate } from '../../src/drift/gate.ts'
import { countOpen } from '../../src/drift/list.ts'
import { mendFound } from '../../src/drift/mend.ts'
import { beginRun } from '../../src/drift/runs.ts'
import { noteToLook } from '../../src/ledger/note.ts'
import { named, settledHouse } from '../support/settled-house.ts'
import { openVerifier, LANE as QUEUE } from './scene.ts'

const FREE: Circumstances = { rate: 1000, liveWaits: false, current: true, swept: true, gap: false }

test('nobody is left out in silence: neither who waits for a look, who gives no answer, nor who is owed', async () => {
  const keys = ['asleep', 'hiccup', 'otherwise', 'owed', 'silent']
  await using house = await settledHouse(QUEUE, named(keys))
  const { pool } = house.db
  for (const key of keys) house.sandbox.users.edit(key, { first_name: 'Eva' })
  const { id: by } = await beginRun(
    pool,
    { sample: null, where: null, repair: true, fingerprint: house.config.fingerprint },
    { seed: '1', population: 5, sampled: null },
  )
  await using looking = await openVerifier(house, { by })
  await looking.look(keys)
  const found = Object.values(await looking.look(keys)).flatMap(({ findingId }) => findingId ?? [])
  expect(found).toHaveLength(5)
  // Nobody is told of before the run has ended.
  expect(await countOpen(pool)).toEqual([])
  await noteToLook(pool, ['owed'])
  // Seen when the run was about to repair it, and was stopped.
  house.sandbox.users.delete('otherwise')
  expect((await looking.look(['otherwise'])).otherwise).toMatchObject({ resolved: 'otherwise' })
  await pool.query(
    `UPDATE rollcall.finding SET next_look_at = now() + interval '10 minutes' WHERE key = 'asleep'`,
  )
  const fail = (userId: string) => ({
    match: { method: 'GET' as const, userId },
    action: { kind: 'status', status: 500 } as const,
  })
  house.sandbox.faults.set([{ ...fail('hiccup'), times: 1 }, fail('silent')])

  await using mending = await openVerifier(house, { repair: true, counts: false })
  const { signal } = new AbortController()
  const waits: number[] = []
  const mended = await mendFound({
    ...{ pool, found, signal, maxShare: 1, released: false, lag: house.config.timing },
    share: { counted: 3, drifted: 3, most: 3, over: false },
    startedAt: new Date().toISOString(),
    verify: mending.verify,
    gate: makeGate({
      circumstances: async () => FREE,
      ...{ rate: null, tend: async () => undefined, sleep: async () => undefined, signal },
      monotonic: () => performance.now(),
    }),
    async sleep(ms) {
      waits.push(ms)
    },
  })
  expect(mended).toEqual({ owed: 3, already: 1, left: 1, halted: null, end: { kind: 'complete' } })
  expect(waits).toHaveLength(2)
  const { rows } = await pool.query('SELECT key FROM rollcall.owed WHERE due_at IS NOT NULL ORDER BY key')
  expect(rows.map(({ key }) => key)).toEqual(['asleep', 'hiccup', 'otherwise', 'owed'])
})
