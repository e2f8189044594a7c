import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { estimate } from '../../src/report/estimate.ts'
import { seededRandom } from '../../src/sandbox/faults/faults.ts'

describe('the interval', () => {
  test.each([
    ['of all customers is a point', { population: 400, checked: 400, drifting: 7 }, 7 / 400, 7 / 400],
    ['of no customer says nothing', { population: 400, checked: 0, drifting: 0 }, 0, 1],
    ['where there is no customer is nothing', { population: 0, checked: 0, drifting: 0 }, 0, 0],
  ])('%s', (_, sample, low, high) => expect(estimate(sample)).toMatchObject({ share: low, low, high }))

  test('of a sample without any drift still allows for some', () => {
    const { low, high } = estimate({ population: 1_000_000, checked: 1000, drifting: 0 })
    expect(low).toBe(0)
    // The rule of three, for both tails: ln(1 / 0.025) in a thousand.
    expect(high).toBeCloseTo(3.689 / 1000, 4)
  })

  test('agrees with the binomial one of Clopper and Pearson where the population is large', () => {
    const { low, high } = estimate({ population: 50_000_000, checked: 100, drifting: 10 })
    expect(low).toBeCloseTo(0.04900469, 5)
    expect(high).toBeCloseTo(0.1762226, 5)
  })

  test('lies around the share, in what the sample leaves possible', () => {
    const share = fc.double({ min: 0, max: 1, noNaN: true })
    const samples = fc
      .tuple(fc.integer({ min: 1, max: 3000 }), share, share)
      .map(([population, some, part]) => {
        const checked = Math.max(1, Math.round(some * population))
        return { population, checked, drifting: Math.round(part * checked) }
      })
    fc.assert(
      fc.property(samples, (sample) => {
        const { share, low, high } = estimate(sample)
        const { population, checked, drifting } = sample
        expect(low).toBeLessThanOrEqual(share)
        expect(high).toBeGreaterThanOrEqual(share)
        expect(low).toBeGreaterThanOrEqual(drifting / population)
        expect(high).toBeLessThanOrEqual((population - checked + drifting) / population)
      }),
    )
  })
})

describe('the interval holds the true share', () => {
  test.each([0.0005, 0.003, 0.02, 0.3])('in about 95 of 100 samples when %d of all drift', (share) => {
    const random = seededRandom(20_261_122)
    const population = 20_000
    const drifts = share * population
    const runs = 200
    const held = Array.from({ length: runs }, () => {
      const sample = { population, checked: 1000, drifting: draw({ population, drifts, size: 1000 }, random) }
      const { low, high } = estimate(sample)
      return low <= share && share <= high
    }).filter(Boolean).length
    expect(held / runs).toBeGreaterThanOrEqual(0.93)
    // An interval that never misses is wider than it says.
    if (share > 0.01) expect(held).toBeLessThan(runs)
  })

  test.each([
    [60, 15],
    [200, 40],
    [500, 300],
  ])('never in fewer: every share of %d customers, with a sample of %d', (population, checked) => {
    const intervals = Array.from({ length: checked + 1 }, (_, drifting) =>
      estimate({ population, checked, drifting }),
    )
    for (let drifts = 0; drifts <= population; drifts++) {
      const held = intervals
        .filter(({ low, high }) => low <= drifts / population && drifts / population <= high)
        .reduce((sum, { drifting }) => sum + chance({ population, checked, drifts, drifting }), 0)
      expect(held, `${drifts} of ${population}`).toBeGreaterThanOrEqual(0.95 - 1e-9)
    }
  })
})

/** By multiplying and dividing, so that it shares nothing with what it checks. */
function chance(of: { population: number; checked: number; drifts: number; drifting: number }): number {
  const { population, checked, drifts, drifting } = of
  if (drifting > drifts || checked - drifting > population - drifts) return 0
  let product = 1
  for (let n = 0; n < checked; n++) {
    const hit = n < drifting
    const left = hit ? drifts - n : population - drifts - (n - drifting)
    product *= (left / (population - n)) * (hit ? checked - n : 1)
    if (hit) product /= drifting - n
  }
  return product
}

function draw(
  { population, drifts, size }: { population: number; drifts: number; size: number },
  random: () => number,
): number {
  let found = 0
  for (let n = 0; n < size; n++) if (random() < (drifts - found) / (population - n)) found++
  return found
}
