import { describe, expect, it } from 'vitest'
import { readPace } from '../../src/pace/read.ts'
import { configureCeiling, currentRate, reservePermits, setCeiling } from '../../src/pace/row.ts'
import { freshDatabase } from '../support/database.ts'
import { holdCalls } from '../support/pace-row.ts'

async function withRow(set = '') {
  const db = await freshDatabase()
  await configureCeiling(db.pool, 60)
  if (set) await db.sql(`UPDATE rollcall.pace SET ${set} WHERE id = 1`)
  return db
}

function raised(
  { ceiling, rate }: { readonly ceiling: number; readonly rate: number },
  elapsedMs: number,
): number {
  const seconds = Math.min(Math.max(0, elapsedMs), 2000) / 1000
  return Math.min(ceiling, rate + Math.max(ceiling / 30, 0.5) * seconds)
}

describe('the rate', () => {
  it('rises while permits are asked for, as the rule says', async () => {
    await using db = await withRow()
    for (const [ceiling, rate, elapsedMs] of [
      [60, 10, 0],
      [60, 10, 500],
      [60, 59.9, 1500],
      [60, 60, 1500],
      [6, 1, 1000],
      [0.25, 0.25, 1000],
      [60, 10, 3_600_000],
      [60, 10, -60_000],
    ] as const) {
      const began = performance.now()
      await db.sql(
        `UPDATE rollcall.pace SET ceiling = $1, rate = $2, next_free = now(),
           raised_at = clock_timestamp() - $3 * interval '1 ms' WHERE id = 1`,
        [ceiling, rate, elapsedMs],
      )
      const { count, spacingMs } = await reservePermits(db.pool, 1)
      expect(count).toBe(1)
      const is = (await readPace(db.pool))?.rate ?? 0
      expect(is).toBeGreaterThanOrEqual(raised({ ceiling, rate }, elapsedMs) - 1e-9)
      const meanwhileMs = performance.now() - began + 5
      expect(is).toBeLessThanOrEqual(raised({ ceiling, rate }, elapsedMs + meanwhileMs))
      expect(1000 / spacingMs).toBeCloseTo(is, 6)
    }
  })

  it('does not rise while the service has asked for a pause, and no process calls', async () => {
    await using db = await withRow(`rate = 10, raised_at = now() - interval '1 s'`)
    await holdCalls(db.pool, 3_600_000)
    expect(await reservePermits(db.pool, 1)).toMatchObject({ count: 0, closed: false })
    const pace = await readPace(db.pool)
    expect(pace).toMatchObject({ rate: 10 })
    expect(pace?.heldForMs).toBeGreaterThan(3_590_000)
    expect(await currentRate(db.pool)).toBe(0)
  })

  it('is shared by processes that ask at once: no more permits than the time is worth', async () => {
    const began = performance.now()
    await using db = await withRow()
    const got = await Promise.all(Array.from({ length: 8 }, () => reservePermits(db.pool, 50)))
    // 200 ms of 60 a second and the first one, and what the time of the test itself is worth.
    const total = got.reduce((sum, { count }) => sum + count, 0)
    expect(total).toBeGreaterThanOrEqual(12)
    expect(total).toBeLessThanOrEqual(14 + ((performance.now() - began) * 60) / 1000)
    expect(got.filter(({ count }) => count > 0).length).toBeGreaterThanOrEqual(1)
  })
})

describe('a breaker, or a hold that no process has done well after', () => {
  it.each([
    [`breaker = 'open'`, true, false],
    [`breaker = 'trying'`, false, true],
    [`trouble = '{"troubles": {"1": 1}}'`, false, true],
    [`trouble = '{"forgiven": {"1": 1}, "from": 3}'`, false, false],
    [`not_before = now() - interval '1 s'`, false, true],
    [`trouble = '[]'`, false, false],
  ])('%s stops all calls: %s, and has good calls reported: %s', async (set, stops, reports) => {
    await using db = await withRow(set)
    const { count, closed, troubled } = await reservePermits(db.pool, 5)
    expect({ closed, granted: count > 0, troubled }).toEqual({
      closed: stops,
      granted: !stops,
      troubled: reports,
    })
    expect((await currentRate(db.pool)) > 0).toBe(!stops)
  })
})

describe('a time that lies too far ahead, because a clock was set back or a person wrote it', () => {
  it.each(["next_free = now() + interval '1 hour'", `next_free = 'infinity'`])(
    '%s holds up no process, and is right again with the next reservation',
    async (set) => {
      await using db = await withRow(set)
      expect(await reservePermits(db.pool, 1)).toMatchObject({ count: 1 })
      const { rows } = await db.sql(`SELECT next_free < now() + interval '1 s' AS soon FROM rollcall.pace`)
      expect(rows).toEqual([{ soon: true }])
    },
  )

  it.each(["not_before = now() + interval '2 hours'", `not_before = 'infinity'`])(
    '%s is no hold',
    async (set) => {
      await using db = await withRow(set)
      expect(await currentRate(db.pool)).toBe(60)
      expect(await readPace(db.pool)).toMatchObject({ heldForMs: 0 })
      expect(await reservePermits(db.pool, 1)).toMatchObject({ count: 1 })
    },
  )
})

describe('the ceiling', () => {
  const now = async (db: Awaited<ReturnType<typeof withRow>>) => {
    const { ceiling, configured, rate } = (await readPace(db.pool)) ?? {}
    return { ceiling, configured, rate }
  }

  it('of a configuration holds from the start', async () => {
    await using db = await withRow()
    expect(await now(db)).toEqual({ ceiling: 60, configured: 60, rate: 60 })
  })

  it('that is raised by hand is risen to, and one that is lowered holds at once', async () => {
    await using db = await withRow()
    await setCeiling(db.pool, 200)
    expect(await now(db)).toEqual({ ceiling: 200, configured: 60, rate: 60 })
    await setCeiling(db.pool, 20)
    expect(await now(db)).toEqual({ ceiling: 20, configured: 60, rate: 20 })
  })

  it('that was set by hand stands until the configuration asks for another', async () => {
    await using db = await withRow()
    await setCeiling(db.pool, 20)
    await configureCeiling(db.pool, 60)
    expect(await now(db)).toEqual({ ceiling: 20, configured: 60, rate: 20 })
    await configureCeiling(db.pool, 10)
    expect(await now(db)).toEqual({ ceiling: 10, configured: 10, rate: 10 })
    await configureCeiling(db.pool, 30)
    expect(await now(db)).toEqual({ ceiling: 30, configured: 30, rate: 10 })
  })

  it('can be set before any worker was started; before that there is no pace', async () => {
    await using db = await freshDatabase()
    expect(await readPace(db.pool)).toBe(null)
    expect(await currentRate(db.pool)).toBe(0)
    await setCeiling(db.pool, 20)
    expect(await now(db)).toEqual({ ceiling: 20, configured: null, rate: 20 })
  })
})
