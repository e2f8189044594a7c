// Customers who share a `user_id`, counted without keeping any.
import { expect, test } from 'vitest'
import { makeSharers } from '../../src/sweep/sharers.ts'

test('a hundred thousand different users share with nobody, and each of a group is counted once', () => {
  const sharers = makeSharers(10)
  for (let i = 0; i < 100_000; i++) sharers.add(`customer-${i}`)
  expect(sharers.count()).toBe(0)
  sharers.add('customer-7')
  expect(sharers.count()).toBe(2)
  sharers.add('customer-7')
  expect(sharers.count()).toBe(3)
  // Those who moved while the table grew are met again, and so are the marks.
  for (let i = 100_000; i < 200_000; i++) sharers.add(`customer-${i}`)
  expect(sharers.count()).toBe(3)
  sharers.add('customer-7')
  expect(sharers.count()).toBe(4)
  for (let i = 0; i < 100_000; i += 1000) sharers.add(`customer-${i}`)
  expect(sharers.count()).toBe(4 + 200)
})

test('a million take 16 MiB, known beforehand or not', () => {
  const MIB = 1024 * 1024
  expect(makeSharers(1_000_000).bytes() / MIB).toBe(16)
  const grown = makeSharers(0)
  for (let i = 0; i < 20_000; i++) grown.add(String(i))
  expect(grown.bytes()).toBe(makeSharers(20_000).bytes())
})
