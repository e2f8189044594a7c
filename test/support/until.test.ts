import { expect, test } from 'vitest'
import { moved } from './progress.ts'
import { until } from './until.ts'

test('resolves to the first true answer, through false ones and errors', async () => {
  let asked = 0
  const answer = await until(() => {
    asked += 1
    if (asked === 1) throw new Error('not yet')
    return asked === 3 && { asked }
  })
  expect(answer).toEqual({ asked: 3 })
})

test('the failure tells what was waited for and what came last', async () => {
  const never = until(() => [].length, { patience: 30, what: 'a first element' })
  await expect(never).rejects.toThrow('nothing has moved for 30 ms: a first element; last: 0')

  const failing = until(() => expect(1).toBe(2), { patience: 30 })
  await expect(failing).rejects.toThrow(/toBe\(2\).*last: expected 1 to be 2/)
})

test('goes on beyond its patience while the answer changes or something else moves', async () => {
  const patience = 60
  const start = performance.now()
  const long = () => performance.now() - start > 5 * patience
  let asked = 0
  await until(() => long() || expect(++asked).toBe(-1), { patience })

  const again = performance.now()
  await until(
    () => {
      moved()
      return performance.now() - again > 5 * patience
    },
    { patience },
  )
})
