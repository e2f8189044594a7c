import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { laneLimit, roomFor } from '../../src/dispatch/depth.ts'
import { LANE, LANES, type Lane } from '../../src/model/customer.ts'

type Backlog = Readonly<Record<Lane, number>>
const NONE: Backlog = { 0: 0, 1: 0, 2: 0, 3: 0 }

/** Leases as one step of the dispatch does. */
function lease(backlog: Backlog, room: number, deletionsHeld = false): number[] {
  let taken = 0
  return LANES.map((lane) => {
    const got = Math.min(backlog[lane], laneLimit(lane, taken, { room, deletionsHeld }))
    taken += got
    return got
  })
}

describe('roomFor', () => {
  it.each([
    [50, 0, 50],
    [50, 45, 5],
    [50, 46, 0],
    [50, 50, 0],
    [50, 90, 0],
    [3, 0, 3],
    [3, 1, 2],
    [3, 2, 0],
    [2, 0, 2],
    [2, 1, 0],
    [1, 0, 1],
    [1, 1, 0],
    [0, 0, 0],
  ])('on a queue that is to be %i deep, with %i there, is %i', (depth, queued, room) => {
    expect(roomFor(depth, queued)).toBe(room)
  })
})

describe('laneLimit', () => {
  it.each<[string, Backlog, number, number[]]>([
    ['everything', { 0: 99, 1: 99, 2: 99, 3: 99 }, 50, [45, 0, 0, 5]],
    ['live changes and backfill', { ...NONE, 1: 99, 3: 99 }, 50, [0, 45, 0, 5]],
    ['few live changes', { ...NONE, 1: 3, 3: 99 }, 50, [0, 3, 0, 47]],
    ['deletions, changes and repairs', { 0: 5, 1: 20, 2: 99, 3: 0 }, 50, [5, 20, 20, 0]],
    ['backfill alone', { ...NONE, 3: 99 }, 50, [0, 0, 0, 50]],
    ['changes and backfill, room for two', { ...NONE, 1: 99, 3: 99 }, 2, [0, 1, 0, 1]],
    ['changes and backfill, room for one', { ...NONE, 1: 99, 3: 99 }, 1, [0, 1, 0, 0]],
    ['backfill, room for one', { ...NONE, 3: 99 }, 1, [0, 0, 0, 1]],
    ['no room', { 0: 9, 1: 9, 2: 9, 3: 9 }, 0, [0, 0, 0, 0]],
  ])('%s', (_what, backlog, room, taken) => expect(lease(backlog, room)).toEqual(taken))

  it('lets held deletions crowd no other lane out', () => {
    expect(lease({ 0: 99, 1: 99, 2: 99, 3: 99 }, 50, true)).toEqual([10, 35, 0, 5])
  })

  it('never gives out more than there is room for, and all of it where there is enough to do', () => {
    const backlog = fc.tuple(fc.nat(100), fc.nat(100), fc.nat(100), fc.nat(100))
    fc.assert(
      fc.property(backlog, fc.nat(80), fc.boolean(), ([a, b, c, d], room, held) => {
        const taken = lease({ 0: a, 1: b, 2: c, 3: d }, room, held)
        const sum = taken.reduce((total, n) => total + n, 0)
        expect(sum).toBeLessThanOrEqual(room)
        expect(taken.every((n) => n >= 0)).toBe(true)
        if (d >= room) expect(sum).toBe(room)
        if (d >= room && room > 1) expect(taken[LANE.backfill]).toBeGreaterThanOrEqual(Math.floor(room / 10))
      }),
    )
  })
})

describe.each([2, 3, 10, 50, 333])(
  'on a queue that is to be %i deep, when there is always more to do than can be done',
  (depth) => {
    it('backfill gets a tenth at least and live changes half, however few jobs end at a time', () => {
      let queued = 0
      const got = [0, 0, 0, 0]
      for (let step = 0; step < 2000; step++) {
        for (const [lane, n] of lease({ ...NONE, 1: 9999, 3: 9999 }, roomFor(depth, queued)).entries()) {
          got[lane] = (got[lane] ?? 0) + n
          queued += n
        }
        expect(queued).toBeLessThanOrEqual(depth)
        queued = Math.max(0, queued - 1)
      }
      const [, live = 0, , backfill = 0] = got
      expect(backfill).toBeGreaterThanOrEqual((live + backfill) / 10)
      expect(live).toBeGreaterThanOrEqual((live + backfill) / 2)
      // The queue never ran dry for lack of jobs.
      expect(live + backfill).toBeGreaterThanOrEqual(1999)
    })
  },
)
