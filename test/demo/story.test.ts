import { expect, test } from 'vitest'
import { makePeople } from '../../src/demo/people.ts'
import { makePhases } from '../../src/demo/story.ts'
import { seededRandom } from '../../src/sandbox/faults/faults.ts'

const random = seededRandom(2)
const phases = makePhases(makePeople(243, random), random)

test('the words of a phase fit into a terminal of 80 columns', () => {
  const texts = phases.flatMap(({ says, look }) => [says, look])
  expect(texts.filter((text) => text.length > 76)).toEqual([])
  expect(phases.filter(({ name }) => name.length > 18)).toEqual([])
})

test('the transactions of the shop take less than half a minute', () => {
  const last = phases.map(({ transactions }) => Math.max(0, ...transactions.map(({ atMs }) => atMs)))
  expect(last.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(25_000)
})

test('transactions are in the order of their times', () => {
  for (const { transactions } of phases) {
    const times = transactions.map(({ atMs }) => atMs)
    expect(times).toEqual(times.toSorted((a, b) => a - b))
  }
})

test('only one phase has faults, and the phase after it waits until all is settled', () => {
  const troubled = phases.findIndex(({ faults }) => faults !== undefined)
  expect(phases.filter(({ faults }) => faults !== undefined)).toHaveLength(1)
  expect(phases[troubled]?.settles).toBe(false)
  expect(phases[troubled + 1]?.transactions).toEqual([])
  expect(phases.filter(({ settles }) => settles === false)).toHaveLength(1)
})
