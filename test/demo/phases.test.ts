import { expect, test } from 'vitest'
import { makePeople } from '../../src/demo/people.ts'
import { makePhases } from '../../src/demo/phases.ts'
import { seededRandom } from '../../src/sandbox/faults/faults.ts'

const random = seededRandom(2)
const phases = makePhases(makePeople(243, random), random)

test('the words of a phase fit into a terminal of 80 columns', () => {
  const texts = phases.flatMap(({ says, look }) => [says, look])
  expect(texts.filter((text) => text.length > 76)).toEqual([])
  expect(phases.filter(({ name }) => name.length > 18)).toEqual([])
})

test('what the shop does takes less than half a minute', () => {
  const last = phases.map(({ actions }) => Math.max(0, ...actions.map(({ atMs }) => atMs)))
  expect(last.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(25_000)
})

test('transactions are in the order of their times', () => {
  for (const { actions } of phases) {
    const times = actions.map(({ atMs }) => atMs)
    expect(times).toEqual(times.toSorted((a, b) => a - b))
  }
})

test('only the trouble has faults, and the phase after it waits until all is settled', () => {
  const troubled = phases.findIndex(({ faults }) => faults.length > 0)
  expect(phases.filter(({ faults }) => faults.length > 0)).toHaveLength(1)
  expect(phases[troubled + 1]).toMatchObject({ faults: [], settles: true, actions: [] })
  expect(phases.at(-1)?.settles).toBe(true)
})
