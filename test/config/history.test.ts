import { expect, test } from 'vitest'
import { resolveConfig } from '../../src/config/resolve.ts'
import { RollcallError } from '../../src/model/errors.ts'

const CONFIG = { customers: { table: 'c', key: 'id' }, mapping: { user_id: 'id', status: { value: 2 } } }
const keepDays = (history: unknown) => resolveConfig({ ...CONFIG, history }, 'c.ts').history.keepDays

test('calls are kept for fourteen days, or as many as the configuration says', () => {
  expect(keepDays(undefined)).toBe(14)
  expect(keepDays({})).toBe(14)
  expect(keepDays({ keepDays: 1 })).toBe(1)
  expect(keepDays({ keepDays: 3650 })).toBe(3650)
})

test.each([0, 3651, 1.5, '14'])('keepDays %j is a mistake', (days) => {
  expect(() => keepDays({ keepDays: days })).toThrow(RollcallError)
})

test('how long calls are kept makes no other mapping', () => {
  const fingerprint = (history: unknown) => resolveConfig({ ...CONFIG, history }, 'c.ts').fingerprint
  expect(fingerprint({ keepDays: 1 })).toBe(fingerprint({ keepDays: 2 }))
})
