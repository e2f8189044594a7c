import { expect, test } from 'vitest'
import { resolveConfig } from '../../src/config/resolve.ts'

const CONFIG = { customers: { table: 'c', key: 'id' }, mapping: { user_id: 'id', status: { value: 2 } } }
const reconcile = (given: unknown) => resolveConfig({ ...CONFIG, reconcile: given }, 'c.ts').reconcile

test.each([
  [{}, 604_800_000],
  [{ period: '12h' }, 43_200_000],
  [{ period: '1s' }, 1000],
  [{ period: '365d' }, 31_536_000_000],
  [{ period: false }, null],
])('%j: every customer is checked within %j ms', (given, periodMs) => {
  expect(reconcile(given)).toEqual({ periodMs, mode: 'report', keepDays: 90 })
})

test.each(['7', '7 d', '', '999ms', '366d', '0s', 7, true, null])('a period of %j is a mistake', (period) => {
  expect(() => reconcile({ period })).toThrow(
    expect.objectContaining({
      code: 'CONFIG_INVALID',
      details: [expect.stringMatching(/reconcile\.period: expected .*365d/)],
    }),
  )
})

test.each([{ mode: 'mend' }, { maxShare: 0.1 }, { keepDays: 0 }, { every: '7d' }, 7])(
  '%j is a mistake',
  (given) => expect(() => reconcile(given)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' })),
)
