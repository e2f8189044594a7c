import { expect, test } from 'vitest'
import { sayBar, sayStanding } from '../../src/cli/progress.ts'

const STANDING = { verb: 'looked at', done: 520_000, total: 1_000_000, from: 20_000, note: '1,234 differ' }

test('a line tells how far it is, how fast, and how long it takes, by what this command has done itself', () => {
  expect(sayStanding(STANDING, 25_000)).toMatch(
    /^520,000 of 1,000,000 .*52 %.* 20,000\/s, 24 s left; 1,234 differ$/,
  )
  expect(sayStanding({ ...STANDING, total: null, note: '' }, 25_000)).toMatch(/^520,000 [^,]*, 20,000\/s$/)
  // More than were counted at its start, and too early to tell a rate.
  expect(sayStanding({ ...STANDING, total: 500_000, note: '' }, 10)).toMatch(/^520,000 [^,]*$/)
  expect(sayStanding({ ...STANDING, done: 20_003, note: '' }, 2000)).toContain('1.5/s')
})

test('a bar is one line, whatever the terminal is wide', () => {
  expect(sayBar(STANDING, 25_000, 80)).toBe(
    '[########........] 52 %  520,000 looked at  20,000/s  24 s left  1,234 differ',
  )
  expect(sayBar({ ...STANDING, done: 1_000_000 }, 25_000, 80)).toMatch(/^\[#{16}\] 100 % /)
  expect(sayBar({ ...STANDING, done: 1_000_001 }, 25_000, 80)).not.toContain('%')
  for (const columns of [1, 20, 79, 80, 200])
    expect(sayBar(STANDING, 25_000, columns).length).toBeLessThan(Math.max(2, columns))
})

test('while calls are stopped that stands in the place of a rate that is over', () => {
  const halted = { ...STANDING, halt: 'calls are stopped' }
  for (const said of [sayStanding(halted, 25_000), sayBar(halted, 25_000, 80)]) {
    expect(said).toContain('calls are stopped')
    expect(said).not.toMatch(/\/s|left/)
  }
  expect(sayStanding(halted, 60_000), 'a line that says nothing new is told once').toBe(
    sayStanding(halted, 25_000),
  )
})
