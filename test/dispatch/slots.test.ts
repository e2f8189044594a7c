import { expect, it } from 'vitest'
import { makeSlots } from '../../src/dispatch/slots.ts'
import type { LeaseInLane } from '../../src/ledger/lease.ts'
import { LANE, type Lane } from '../../src/model/customer.ts'

const lease = (id: string, lane: Lane = LANE.backfill): LeaseInLane => ({ id, token: `${id}0`, lane })

/** Slots whose leases begin and end when the test says so. */
function scene(most: number) {
  const order: string[] = []
  const errors: unknown[] = []
  const under = new Map<string, { begin: () => void; end: (error?: unknown) => void }>()
  const slots = makeSlots({
    most,
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
  return { slots, order, errors, tell }
}

it('carries out so many at once, the most urgent lane first, in a lane the first one first', async () => {
  const { slots, order, tell } = scene(1)
  void slots.take([lease('a'), lease('b'), lease('c', LANE.repair)])
  void slots.take([lease('d', LANE.change), lease('e'), lease('f', LANE.repair)])
  for (const id of ['c', 'd', 'f', 'a', 'b', 'e']) await tell('end', id)
  expect(order).toEqual(['c', 'd', 'f', 'a', 'b', 'e'])
})

it('is done with a page once its last lease is begun, however long one of them takes', async () => {
  const { slots, tell } = scene(2)
  let done = false
  const page = slots.take([lease('slow'), lease('quick'), lease('last')]).then(() => {
    done = true
  })
  await tell('begin', 'slow')
  await tell('begin', 'quick')
  expect(done).toBe(false)
  await tell('end', 'quick')
  await tell('begin', 'last')
  await page
})

it('goes on after one that fails, and tells of it', async () => {
  const { slots, order, errors, tell } = scene(1)
  const page = slots.take([lease('a'), lease('b')])
  await tell('end', 'a', new Error('connection lost'))
  await tell('end', 'b')
  await page
  expect(order).toEqual(['a', 'b'])
  expect(errors).toMatchObject([{ message: 'connection lost' }])
})

it('is idle when nothing waits and nothing runs', async () => {
  const { slots, tell } = scene(1)
  await slots.idle()
  void slots.take([lease('a'), lease('b')])
  let idle = false
  const ended = slots.idle().then(() => {
    idle = true
  })
  await tell('end', 'a')
  expect(idle).toBe(false)
  await tell('end', 'b')
  await ended
})
