import { describe, expect, it } from 'vitest'
import { makeBatch } from '../../src/ledger/batch.ts'

const failure = (code?: string) => Object.assign(new Error('no'), code === undefined ? {} : { code })

describe('makeBatch', () => {
  it('makes one statement at a time, of what came while the one before it was under way', async () => {
    let underWay = 0
    const batches: number[][] = []
    const load = makeBatch<number, number>(async (inputs) => {
      batches.push([...inputs])
      expect(++underWay).toBe(1)
      await new Promise((resolve) => setTimeout(resolve, 5))
      underWay--
      return inputs
    })
    const first = load(0)
    while (batches.length === 0) await new Promise(setImmediate)
    const others = [1, 2, 3].map((n) => load(n))
    expect(await Promise.all([first, ...others])).toEqual([0, 1, 2, 3])
    expect(batches).toEqual([[0], [1, 2, 3]])
  })

  it.each([
    ['40P01', 3],
    ['23505', 1],
    ['ECONNRESET', 1],
    [undefined, 1],
  ])('tells everybody who waits when it fails (%s, %i tries)', async (code, most) => {
    let tries = 0
    const load = makeBatch<number, number>(async () => {
      tries++
      throw failure(code)
    })
    const results = await Promise.allSettled([load(1), load(2), load(3)])
    expect(results.map((result) => result.status)).toEqual(['rejected', 'rejected', 'rejected'])
    expect(tries).toBe(most)
  })

  it('goes on after a failure', async () => {
    let broken = true
    const load = makeBatch<number, number>(async (inputs) => {
      if (broken) throw failure('57P01')
      return inputs
    })
    await expect(load(1)).rejects.toThrow('no')
    broken = false
    expect(await load(1)).toBe(1)
  })
})
