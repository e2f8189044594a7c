import { once } from 'node:events'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { drip } from '../../../src/sandbox/faults/strike.ts'
import { runs } from '../../support/size.ts'
import { countTimers } from '../../support/timers.ts'

async function collect(...sent: Parameters<typeof drip>): Promise<Buffer[]> {
  const pieces: Buffer[] = []
  for await (const piece of drip(...sent)) pieces.push(piece as Buffer)
  return pieces
}

describe('a body that drips', () => {
  it('is the same bytes in at least two pieces, whatever it is and however long it takes', async () => {
    const bytes = fc.uint8Array({ minLength: 2, maxLength: 300 })
    await fc.assert(
      fc.asyncProperty(bytes, fc.integer({ min: 0, max: 30 }), async (any, durationMs) => {
        const pieces = await collect(Buffer.from(any), durationMs)
        expect(Buffer.concat(pieces)).toEqual(Buffer.from(any))
        expect(pieces.length).toBeGreaterThanOrEqual(2)
      }),
      { numRuns: runs(40) },
    )
  })

  it('waits for no piece that is late', async () => {
    let now = 0
    const clock = () => {
      now += 60_000
      return now
    }
    // In time, every one of them would be waited for longer than the test may take.
    expect(await collect(Buffer.alloc(30, 'x'), 600_000, clock)).toHaveLength(30)
  })

  it.each([0, 1])('ends when there is no second piece to wait for: %i bytes', async (length) => {
    expect(Buffer.concat(await collect(Buffer.alloc(length, 'x'), 600_000))).toHaveLength(length)
  })

  it('leaves no timer when it is destroyed in the middle', async () => {
    using timers = countTimers()
    const streams = Array.from({ length: 100 }, () => drip(Buffer.alloc(10, 'x'), 600_000))
    await Promise.all(streams.map((stream) => once(stream, 'data')))
    expect(timers.count()).toBeGreaterThanOrEqual(100)
    for (const stream of streams) stream.destroy()
    await expect.poll(timers.count).toBeLessThan(50)
  })
})
