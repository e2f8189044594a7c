import { expect, test } from 'vitest'
import { makeSample, makeSharedUsers } from '../../src/cli/backfill-dry-run.ts'
import { renderBackfill, unsettledOf } from '../../src/cli/backfill-view.ts'

test('keeps as many as it may, all of them where they are fewer, and makes only those that it keeps', () => {
  const sample = makeSample<number>(3, () => 0.999_999)
  const made: number[] = []
  for (let n = 0; n < 100; n++)
    sample.add(() => {
      made.push(n)
      return n
    })
  expect(sample.all()).toEqual([0, 1, 2])
  expect(made).toEqual([0, 1, 2])
  const few = makeSample<string>(3, Math.random)
  few.add(() => 'a')
  expect(few.all()).toEqual(['a'])
  const none = makeSample<number>(0, Math.random)
  none.add(() => 1)
  expect(none.all()).toEqual([])
})

test('a hundred thousand different users share with no other, and each of a group is counted once', () => {
  const shared = makeSharedUsers()
  expect(shared.count()).toBe(0)
  for (let i = 0; i < 100_000; i++) shared.add(`customer-${i}`)
  expect(shared.count()).toBe(0)
  shared.add('customer-7')
  expect(shared.count()).toBe(2)
  shared.add('customer-7')
  expect(shared.count()).toBe(3)
  for (let i = 0; i < 100_000; i += 1000) shared.add(`customer-${i}`)
  expect(shared.count()).toBe(3 + 200)
})

test('a mapping that was replaced by the one that syncs go by is said to be that', () => {
  const target = { origin: 'http://127.0.0.1:1', environment: 'demo', local: true }
  const mapping = { generation: '2', appliedAt: '2026-11-21T10:00:00Z', current: false, earlier: true }
  const report = { target, ...mapping, applied: false, ended: true, customers: 0 }
  const said = (asked: object) =>
    renderBackfill(
      report as Parameters<typeof renderBackfill>[0],
      asked as Parameters<typeof renderBackfill>[1],
    ).join(' ')
  expect(said({ where: ['a=b'] })).toMatch(/generation 2, .*of\s+this\s+command\s+was\s+active\s+before/s)
})

test('an unreadable row that makes its customer fail is counted once', () => {
  const states = { rejected: 4, failing: 2, held: 0, discarded: 0, idle: 5, owed: 0, released: 0 }
  expect([1, 3].map((unreadable) => unsettledOf({ states }, unreadable))).toEqual([6, 7])
})
