import { describe, expect, it } from 'vitest'
import { parseRetryAfter, RETRY_AFTER_CAP_MS } from '../../src/service/http.ts'

const NOW = Date.UTC(2026, 4, 10, 12, 0, 0)
const parse = (header: string | undefined, date?: string) => parseRetryAfter(header, { date, now: NOW })

describe('parseRetryAfter', () => {
  it.each([
    ['0', 0],
    ['5', 5000],
    [' 120 ', 120_000],
    ['99999999999999999999999', RETRY_AFTER_CAP_MS],
    ['Sun, 10 May 2026 12:00:30 GMT', 30_000],
    ['Sun, 10 May 2026 11:00:00 GMT', 0],
    ['Fri, 31 Dec 9999 23:59:59 GMT', RETRY_AFTER_CAP_MS],
  ])('%s', (header, expected) => expect(parse(header)).toBe(expected))

  const ODD = ['2026-05-10T12:00:30Z', 'Sun, 99 May 2026 12:00:30 GMT', 'Invalid Date']
  it.each([undefined, '', '-5', '1.5', 'soon', '5, 10', ...ODD])('cannot read %s', (header) => {
    expect(parse(header)).toBeUndefined()
  })

  it('measures a date on the clock of the answer, so that a skewed clock of ours does no harm', () => {
    expect(parse('Sun, 10 May 2026 13:00:20 GMT', 'Sun, 10 May 2026 13:00:00 GMT')).toBe(20_000)
    expect(parse('Sun, 10 May 2026 12:00:20 GMT', 'yesterday')).toBe(20_000)
  })
})
