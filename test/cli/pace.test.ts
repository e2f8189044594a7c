import { expect, test } from 'vitest'
import { rateIn } from '../../src/cli/option-values.ts'
import { renderPace } from '../../src/cli/pace.ts'
import type { PaceReport } from '../../src/pace/read.ts'
import { unfolded } from '../support/unfolded.ts'

const CLOSED: PaceReport = {
  ...{ ceiling: 50, configured: 50, rate: 50, epoch: '0', heldForMs: 0, breaker: 'closed' },
  ...{ cause: null, openedAt: null, nextProbeMs: null, failedProbes: 0 },
}

const say = (more: Partial<PaceReport>) => unfolded(renderPace({ ...CLOSED, ...more }).join('\n'))

test('says how fast, how fast at most, and whether calls are made', () => {
  expect(renderPace(null)).toEqual([expect.stringContaining('not set yet')])
  expect(renderPace(CLOSED)).toEqual([
    'calls        allowed',
    'rate         50 calls/s',
    'ceiling      50 calls/s, as configured',
  ])
  expect(say({ rate: 12.3456, ceiling: 200 })).toMatch(/12 calls\/s, rising/)
  expect(say({ ceiling: 200 })).toMatch(/200 calls\/s, .*by hand .*50/)
  expect(say({ configured: null })).toContain('until the first worker')
  expect(say({ heldForMs: 90_000 })).toMatch(
    /^calls +stopped for another 90 s, because .*\n.*0 calls\/s now, and 50/,
  )
})

test('says what stops calls, since when, when it is tried again, and what to do', () => {
  const openedAt = '2026-11-20T10:00:00Z'
  const probes = { breaker: 'open', nextProbeMs: 40_000, failedProbes: 3 } as const
  const outage = say({ ...probes, openedAt, cause: 'outage' })
  for (const words of [
    'fails (failed probes: 3; a probe is due in 40 s)',
    '2026-11-20 10',
    'check that a worker runs',
    'rises again, at most to the ceiling',
  ])
    expect(outage).toContain(words)
  const refused = say({ openedAt, cause: 'credentials' })
  for (const words of ['refuses their keys', '2026-11-20 10', 'SERVICE_SECRET_KEY', '0 calls/s now, and 50'])
    expect(refused).toContain(words)
  expect(say({ breaker: 'trying', openedAt: '2026-11-20T10:00:00Z' })).toContain('slowly at first')
  for (const cause of ['outage', 'credentials'] as const)
    for (const line of renderPace({ ...CLOSED, ...probes, openedAt, cause }))
      expect(line.length).toBeLessThanOrEqual(80)
})

test('a ceiling is a number from 0.1 to 10,000', () => {
  const readCeiling = rateIn('--ceiling')
  for (const text of ['200', '0.5', '10000', '007']) expect(readCeiling(text)).toBe(Number(text))
  for (const text of ['0.09', '10000.1', '-1', '', ' ', '1e3', '0x10', '5/s', '1,5', 'NaN', 'Infinity'])
    expect(() => readCeiling(text), text).toThrow(
      expect.objectContaining({ code: 'USAGE', details: [expect.stringContaining('--ceiling')] }),
    )
})
