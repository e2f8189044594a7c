import { describe, expect, it } from 'vitest'
import { makeBatch } from '../../src/database/batch.ts'

function recording(answer: (input: number) => number | Error = (input) => input * 10) {
  const batches: number[][] = []
  const load = makeBatch<number, number>(async (inputs) => {
    batches.push([...inputs])
    return inputs.map(answer) as number[]
  })
  return { batches, load }
}

const failure = (code?: string) => Object.assign(new Error('no'), code === undefined ? {} : { code })

describe('makeBatch', () => {
  it('gathers concurrent calls and answers each with its own, in order', async () => {
    const { batches, load } = recording()
    expect(await Promise.all([3, 1, 2].map((n) => load(n)))).toEqual([30, 10, 20])
    expect(batches).toEqual([[3, 1, 2]])
  })

  it('neither merges nor remembers equal inputs', async () => {
    const { batches, load } = recording()
    expect(await Promise.all([7, 7].map((n) => load(n)))).toEqual([70, 70])
    expect(await load(7)).toBe(70)
    expect(batches).toEqual([[7, 7], [7]])
  })

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

  it.each([1, 3])(
    'makes at most so many statements at once (%i), also of more than one may hold',
    async (atOnce) => {
      let underWay = 0
      let most = 0
      const load = makeBatch<number, number>(
        async (inputs) => {
          most = Math.max(most, ++underWay)
          await new Promise(setImmediate)
          underWay--
          return inputs
        },
        { atOnce },
      )
      const first = load(-1)
      await new Promise(setImmediate)
      const many = Array.from({ length: 900 }, (_, n) => load(n))
      expect(await Promise.all([first, ...many])).toHaveLength(901)
      expect(most).toBe(atOnce)
    },
  )

  it('goes on after a statement that failed', async () => {
    let tries = 0
    const load = makeBatch<number, number>(async (inputs) => {
      if (++tries === 1) throw failure()
      return inputs
    })
    await expect(load(1)).rejects.toThrow('no')
    expect(await load(2)).toBe(2)
  })

  it.each(['40001', '40P01'])(
    'makes the same statement again when Postgres asks for it (%s)',
    async (code) => {
      let tries = 0
      const load = makeBatch<number, number>(async (inputs) => {
        tries++
        if (tries < 3) throw failure(code)
        return inputs
      })
      expect(await Promise.all([load(1), load(2)])).toEqual([1, 2])
      expect(tries).toBe(3)
    },
  )

  it.each([
    ['40P01', 3],
    ['23505', 1],
    ['ECONNRESET', 1],
    [undefined, 1],
  ])('tells every one that waits when it fails (%s, %i tries)', async (code, most) => {
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
