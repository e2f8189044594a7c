// Estimates from a random sample about all customers, by the exact distribution: no approximation that fails for rare drift.
import type { Estimate } from './report.ts'

/** Left out at either end: together the five per cent in which the interval may miss. */
const TAIL = 0.025

/**
 * The interval of Clopper and Pearson for draws without replacement: all numbers of drifting customers under which such a
 * sample is not rarer than 2.5 % on either side. Drift is rare, where the usual approximations fail. `checked`: of the
 * population, those drawn at random without replacement about which something could be said.
 */
export function estimate(sample: Pick<Estimate, 'population' | 'checked' | 'drifting'>): Estimate {
  const { population, checked, drifting } = sample
  const most = population - (checked - drifting)
  const chance = hypergeometric(population, checked)
  // The fewest under which so many are still likely, and the most under which so few are.
  const fewest = first(drifting, most, (total) => chance.atLeast(drifting, total) > TAIL)
  const over = first(drifting, most + 1, (total) => total > most || chance.atMost(drifting, total) <= TAIL)
  const [low, high] = population === 0 ? [0, 0] : [fewest / population, (over - 1) / population]
  const share = checked === 0 ? 0 : drifting / checked
  // Customers are whole: with nearly all of them checked, the share of these may lie between two.
  return { population, checked, drifting, share: Math.min(Math.max(share, low), high), low, high }
}

/** The first whole number of which it holds; it stays true from there on, and at `to` at the latest. */
function first(from: number, to: number, holds: (value: number) => boolean): number {
  let [low, high] = [from, to]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (holds(middle)) high = middle
    else low = middle + 1
  }
  return low
}

/** Chances of seeing so many in `checked` draws when `total` of the population drift. */
function hypergeometric(population: number, checked: number) {
  const pairs = lnChoose(population, checked)
  const exactly = (seen: number, total: number) =>
    Math.exp(lnChoose(total, seen) + lnChoose(population - total, checked - seen) - pairs)
  const between = (from: number, to: number, total: number) => {
    const least = Math.max(from, checked - (population - total), 0)
    const most = Math.min(to, total, checked)
    let sum = 0
    for (let seen = least; seen <= most; seen++) sum += exactly(seen, total)
    return sum
  }
  // The shorter sum of the two, which is also the more exact one.
  return {
    atLeast: (seen: number, total: number) =>
      2 * seen > checked ? between(seen, checked, total) : 1 - between(0, seen - 1, total),
    atMost: (seen: number, total: number) =>
      2 * seen > checked ? 1 - between(seen + 1, checked, total) : between(0, seen, total),
  }
}

/** Minus infinity where there is no way at all. */
function lnChoose(all: number, some: number): number {
  if (some < 0 || some > all) return Number.NEGATIVE_INFINITY
  return lnFactorial(all) - lnFactorial(some) - lnFactorial(all - some)
}

/** From there on Stirling's series, whose error is then below 1e-12. */
const MANY = 64

function lnFactorial(n: number): number {
  if (n < MANY) return n < 2 ? 0 : Math.log(n) + lnFactorial(n - 1)
  const square = n * n
  const series = (1 / 12 - (1 / 360 - 1 / (1260 * square)) / square) / n
  return n * Math.log(n) - n + Math.log(2 * Math.PI * n) / 2 + series
}
