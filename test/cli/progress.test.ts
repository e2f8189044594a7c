import { expect, test } from 'vitest'
import { sayProgress } from '../../src/cli/progress.ts'

const STATE = { verb: 'looked at', done: 520_000, total: 1_000_000, from: 20_000, note: '1,234 differ' }

test('tells how far it is, how fast, and how long it takes, by what this command has done itself', () => {
  const line = sayProgress(STATE, 25_000)
  expect(line).toBe('520,000 of 1,000,000 looked at (52 %), 20,000/s, 24 s left; 1,234 differ')
  expect(sayProgress({ ...STATE, total: null, note: '' }, 25_000)).toBe('520,000 looked at, 20,000/s')
  // More than were counted at its start, and too early to tell a rate.
  expect(sayProgress({ ...STATE, total: 500_000, note: '' }, 10)).toBe('520,000 looked at')
  expect(sayProgress({ ...STATE, done: 20_003, note: '' }, 2000)).toContain('1.5/s')
})

test('while calls are stopped that stands in the place of a rate that is over', () => {
  const line = sayProgress({ ...STATE, halt: 'calls are stopped' }, 25_000)
  expect(line).toContain('calls are stopped')
  expect(line).not.toMatch(/\/s|left/)
})
