import { expect, it } from 'vitest'
import { makeTakeJobs } from '../../src/dispatch/take-jobs.ts'
import type { Lease } from '../../src/ledger/lease.ts'
import { LANE, type Lane } from '../../src/model/customer.ts'

const lease = (id: string, lane: Lane = LANE.backfill): Lease => ({ id, token: `${id}0`, lane })

/** Jobs whose leases begin and end when the test says so. */
function scene(concurrency: number) {
  const order: string[] = []
  const errors: unknown[] = []
  const under = new Map<string, { begin: () => void; end: (error?: unknown) => void }>()
  const jobs = makeTakeJobs({
    concurrency,
    carryOut: ({ id }, begun) => {
      order.push(id)
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      under.set(id, { begin: begun, end: (error) => (error ? reject(error) : resolve()) })
      return promise
    },
    onError: (error) => errors.push(error),
  })
  const tell = async (what: 'begin' | 'end', id: string, error?: unknown) => {
    under.get(id)?.[what](error)
    await new Promise(setImmediate)
  }
  return { jobs, order, errors, tell }
}

it('carries out so many at once, the most urgent lane first, in a lane the first one first', async () => {
  const { jobs, order, tell } = scene(1)
  void jobs.takeJob([lease('a'), lease('b'), lease('c', LANE.repair)])
  void jobs.takeJob([lease('d', LANE.change), lease('e'), lease('f', LANE.repair)])
  for (const id of ['c', 'd', 'f', 'a', 'b', 'e']) await tell('end', id)
  expect(order).toEqual(['c', 'd', 'f', 'a', 'b', 'e'])
})

it('is done with a job once its last lease is begun, however long one of them takes', async () => {
  const { jobs, tell } = scene(2)
  let done = false
  const job = jobs.takeJob([lease('slow'), lease('quick'), lease('last')]).then(() => {
    done = true
  })
  await tell('begin', 'slow')
  await tell('begin', 'quick')
  expect(done).toBe(false)
  await tell('end', 'quick')
  await tell('begin', 'last')
  await job
})

it('goes on after one that fails, and tells of it', async () => {
  const { jobs, order, errors, tell } = scene(1)
  const job = jobs.takeJob([lease('a'), lease('b')])
  await tell('end', 'a', new Error('connection lost'))
  await tell('end', 'b')
  await job
  expect(order).toEqual(['a', 'b'])
  expect(errors).toMatchObject([{ message: 'connection lost' }])
})

it('is idle when nothing waits and nothing runs', async () => {
  const { jobs, tell } = scene(1)
  await jobs.idle()
  void jobs.takeJob([lease('a'), lease('b')])
  let idle = false
  const ended = jobs.idle().then(() => {
    idle = true
  })
  await tell('end', 'a')
  expect(idle).toBe(false)
  await tell('end', 'b')
  await ended
})
