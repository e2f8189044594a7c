import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Depth, type DepthReading, mostAt, nextDepth, roomFor } from '../../src/dispatch/depth.ts'

const SETTING = { pace: 2000, concurrency: 20 }

/** The depth after these readings, each as `ms/issued/queued`: when, leases ever given out, and leases on the queue. */
function depthAfter(readings: string, setting = SETTING): number {
  return readings
    .split(' ')
    .map((text): DepthReading => {
      const [atMs = 0, issued = 0, queued = 0] = text.split('/').map(Number)
      return { ...setting, atMs, issued, queued }
    })
    .reduce<Depth | null>(nextDepth, null)?.leases as number
}

describe('mostAt', () => {
  it.each([
    [2000, 2000],
    [2.5, 3],
    [1, 2],
    [0.2, 1],
    [0, 0],
  ])('at %d calls a second is %i', (pace, most) => expect(mostAt(pace)).toBe(most))
})

describe('nextDepth', () => {
  it.each([
    ['as many as run at once, to begin with', '0/0/0', 20],
    ['twice that when all of them were put there and are gone', '0/0/0 10/20/0', 40],
    ['the same while they are there', '0/0/0 10/20/15', 20],
    ['the same when the queue is empty because less was due', '0/0/0 10/12/0', 20],
    ['the same after a long pause, whatever was done before it', '0/0/0 1000/900/20 60000/920/0', 20],
    [
      '0.4 s of what was carried out, by whichever process it was put there',
      '0/5000/100 500/5250/100 1000/5500/100',
      200,
    ],
    ['no second of the pace when leases have passed unclaimed', '0/9000/2000 10/9000/0', 800],
    ['no less when the sequence runs ahead of what is counted', '0/100/10 10/90/10', 20],
  ])('%s', (_what, readings, jobs) => expect(depthAfter(readings)).toBe(jobs))

  it('falls slowly: one poll that finds nothing done does not halve it', () => {
    const busy = '0/0/100 100/100/100 200/200/100 300/300/100 400/400/100 500/500/100'
    expect(depthAfter(busy)).toBe(400)
    expect(depthAfter(`${busy} 560/500/100`)).toBeGreaterThan(300)
  })

  it.each([
    [5, 2],
    [0.5, 1],
    [0, 0],
  ])('at a pace of %d a second it is %i, however many could run at once', (pace, jobs) => {
    expect(depthAfter('0/0/0', { pace, concurrency: 100 })).toBe(jobs)
  })
})

/** A backlog without end, and processes that poll their own times and carry out so much together. */
function workOff(options: { perSecond: number; pauses: readonly number[]; steps: number; workers: number }) {
  const { perSecond, pauses, steps, workers } = options
  const depths: (Depth | null)[] = Array.from({ length: workers }, () => null)
  const seen: { atMs: number; jobs: number; queued: number; done: number }[] = []
  let [atMs, issued, done, could] = [0, 0, 0, 0]
  for (let step = 0; step < steps; step++) {
    const passed = pauses[step % pauses.length] ?? 10
    atMs += passed
    could += (perSecond * passed) / 1000
    const now = Math.min(Math.floor(could), issued - done)
    could = Math.min(1, could - now)
    done += now
    const queued = issued - done
    const depth = nextDepth(depths[step % workers] ?? null, { ...SETTING, atMs, issued, queued })
    depths[step % workers] = depth
    issued += roomFor(depth.leases, queued)
    seen.push({ atMs, jobs: depth.leases, queued: issued - done, done })
  }
  return seen
}

const world = fc.record({
  perSecond: fc.integer({ min: 20, max: 2000 }),
  pauses: fc.array(fc.integer({ min: 5, max: 100 }), { minLength: 1, maxLength: 20 }),
  workers: fc.integer({ min: 1, max: 4 }),
})

describe('a backlog that is worked off', () => {
  it('never has more than a second of the pace on the queue, and never less than two jobs', () => {
    fc.assert(
      fc.property(world, (given) => {
        for (const { jobs, queued } of workOff({ ...given, steps: 200 })) {
          expect(jobs).toBeGreaterThanOrEqual(2)
          expect(Math.max(jobs, queued)).toBeLessThanOrEqual(2000)
        }
      }),
    )
  })

  it('starves no lane: after a few polls nearly all is done that could be', () => {
    fc.assert(
      fc.property(world, (given) => {
        const seen = workOff({ ...given, steps: 400 })
        const from = seen[9 * given.workers]
        const to = seen.at(-1)
        if (!from || !to) throw new Error('there were readings')
        const could = (given.perSecond * (to.atMs - from.atMs)) / 1000
        expect(to.done - from.done).toBeGreaterThanOrEqual(0.97 * could - 1)
      }),
    )
  })

  it('gets on as well when looks are slow, and the queue is empty long before the next one', () => {
    const slow = fc.record({
      perSecond: fc.integer({ min: 20, max: 2000 }),
      pause: fc.integer({ min: 400, max: 900 }),
    })
    fc.assert(
      fc.property(slow, ({ perSecond, pause }) => {
        const seen = workOff({ perSecond, pauses: [pause], steps: 100, workers: 1 })
        const [from, to] = [seen[9], seen.at(-1)]
        if (!from || !to) throw new Error('there were readings')
        expect(to.done - from.done).toBeGreaterThanOrEqual((0.75 * perSecond * (to.atMs - from.atMs)) / 1000)
      }),
    )
  })

  it('has no more than a second of what is really done in front of a live change', () => {
    fc.assert(
      fc.property(world, (given) => {
        const seen = workOff({ ...given, steps: 400 })
        for (const { atMs, queued } of seen)
          if (atMs > 3000) expect(queued).toBeLessThanOrEqual(Math.max(20, given.perSecond))
      }),
    )
  })
})
