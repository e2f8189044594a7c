import { describe, expect, it } from 'vitest'
import { makeBatch } from '../../src/ledger/batch.ts'

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

  it('makes statements of fifty rows at most', async () => {
    const { batches, load } = recording()
    const inputs = Array.from({ length: 120 }, (_, n) => n)
    expect(await Promise.all(inputs.map((n) => load(n)))).toEqual(inputs.map((n) => n * 10))
    expect(batches.map((batch) => batch.length)).toEqual([50, 50, 20])
    expect(batches.flat()).toEqual(inputs)
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
