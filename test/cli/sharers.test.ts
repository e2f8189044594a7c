// Customers who share a `user_id`, counted without keeping any.
import { expect, test } from 'vitest'
import { makeSharers } from '../../src/cli/sharers.ts'

test('a hundred thousand different users share with nobody, and each of a group is counted once', () => {
  const sharers = makeSharers()
  expect(sharers.count()).toBe(0)
  for (let i = 0; i < 100_000; i++) sharers.add(`customer-${i}`)
  expect(sharers.count()).toBe(0)
  sharers.add('customer-7')
  expect(sharers.count()).toBe(2)
  sharers.add('customer-7')
  expect(sharers.count()).toBe(3)
  for (let i = 0; i < 100_000; i += 1000) sharers.add(`customer-${i}`)
  expect(sharers.count()).toBe(3 + 200)
})
