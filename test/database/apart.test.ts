import pg from 'pg'
import { expect, test } from 'vitest'
import { halvedOnRowError } from '../../src/database/batch.ts'

function refusal(code: string): Error {
  return Object.assign(new pg.DatabaseError('no', 2, 'error'), { code })
}

test('the item that Postgres refuses stands alone, and what is stored before the connection breaks stands', async () => {
  const stored: number[] = []
  const ask = (broken: number) => async (items: readonly number[]) => {
    if (items.includes(1)) throw refusal('P0001')
    if (items.includes(broken)) throw refusal('57P01')
    stored.push(...items)
    return new Map(items.map((item) => [item, true]))
  }
  const given = await halvedOnRowError([0, 1, 2, 3, 4, 5], ask(-1))
  expect([...given].map(([item, fits]) => (fits === true ? item : 'error'))).toEqual([0, 'error', 2, 3, 4, 5])
  const cut = await halvedOnRowError([0, 1, 2, 3, 4, 5], ask(4))
  expect([...cut].filter(([, fits]) => fits === true).map(([item]) => item)).toEqual([0, 2])
  await expect(halvedOnRowError([4], ask(4))).rejects.toMatchObject({ code: '57P01' })
})
