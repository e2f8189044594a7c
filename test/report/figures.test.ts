import { expect, test } from 'vitest'
import { percent } from '../../src/report/figures.ts'

test.each([
  [0, '0 %'],
  [0.00001, '< 0.01 %'],
  [0.00021, '0.02 %'],
  [0.0384, '3.8 %'],
  [0.9949, '99.49 %'],
  [0.999999, '> 99.99 %'],
  [1, '100 %'],
])('a share of %d is %s', (share, said) => expect(percent(share)).toBe(said))
