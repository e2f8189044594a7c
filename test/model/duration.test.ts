import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readDuration, renderDuration } from '../../src/model/duration.ts'

describe('readDuration', () => {
  it.each([
    ['500', 500],
    ['500ms', 500],
    ['2s', 2000],
    ['5m', 300_000],
    ['3h', 10_800_000],
    ['14d', 1_209_600_000],
    ['007s', 7000],
  ])('%s', (text, ms) => expect(readDuration(text)).toBe(ms))

  const WORDS = 's 2w 2S 1.5s -1 +1 1e3 1h30m ٣s 1__proto__'.split(' ')
  it.each(['', ...WORDS, ' 1', '1 s', '1s\n', '36 hours', '9'.repeat(16), '9'.repeat(60_000)])(
    '"%s" is none',
    (text) => expect(readDuration(text)).toBeUndefined(),
  )
})

describe('renderDuration', () => {
  it.each([
    [0, '0ms'],
    [1500, '1500ms'],
    [90_000, '90s'],
    [120_000, '2m'],
    [129_600_000, '36h'],
    [1_209_600_000, '14d'],
  ])('%i is %s', (ms, text) => expect(renderDuration(ms)).toBe(text))

  it('is read back as it was', () => {
    fc.assert(
      fc.property(fc.nat(), fc.constantFrom(1, 1000, 60_000, 3_600_000, 86_400_000), (figure, unit) => {
        expect(readDuration(renderDuration(figure * unit))).toBe(figure * unit)
      }),
    )
  })
})
