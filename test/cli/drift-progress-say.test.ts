// How far a run has come, in a terminal and in a log.
import { expect, test } from 'vitest'
import { sayBar, sayProgress } from '../../src/cli/say-drift-progress.ts'

const NOW = { done: 1200, of: 10_000, drifting: 3, waiting: 2 }

test('a line tells how many are done, what was found, how fast it goes and for how long', () => {
  expect(sayProgress(NOW, { before: 0, elapsedMs: 24_000 })).toBe(
    '1,200 of 10,000 customers (12 %), 3 differ, 2 to look at again, 50 a second, about 3 min left',
  )
  expect(sayProgress({ done: 0, of: 0, drifting: 0, waiting: 0 }, { before: 0, elapsedMs: 0 })).toBe(
    '0 of 0 customers (100 %)',
  )
})

test('what an earlier process has done says nothing of how fast this one is', () => {
  expect(sayProgress(NOW, { before: 1180, elapsedMs: 4000 })).toContain('5.0 a second')
  expect(sayProgress(NOW, { before: 1200, elapsedMs: 4000 })).not.toContain('second')
})

test.each([20, 40, 60, 80, 200])('a bar fits %i columns', (columns) => {
  const bar = sayBar(NOW, { before: 0, elapsedMs: 24_000, columns })
  expect(bar.length).toBeLessThan(columns)
  expect(bar.startsWith('███░')).toBe(true)
})

test('a bar in eighty columns tells all of it, and is full when more have joined than were counted', () => {
  expect(sayBar(NOW, { before: 0, elapsedMs: 24_000, columns: 80 })).toMatch(/1,200 of 10,000, 3 differ/)
  const more = { done: 12, of: 10, drifting: 0, waiting: 0 }
  expect(sayBar(more, { before: 0, elapsedMs: 1000, columns: 80 })).toMatch(/^█{24} 12 of 10, 12 a second$/)
})
