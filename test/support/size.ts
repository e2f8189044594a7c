// The two sizes of a test run. `npm test` is the small one: once through everything, in three minutes on two cores.
// `npm run test:full` is what that leaves out: the other queue, what is heavy, and many more runs of each property.
import { globSync, readFileSync } from 'node:fs'

export const FULL = process.env.TEST_SIZE === 'full'

/** Files of the full run alone. */
export const HEAVY = ['test/**/*.full.test.ts']

/** How often a property is tried, of so many in the full run. */
export function runs(many: number): number {
  return FULL ? many : Math.min(many, Math.max(25, Math.ceil(many / 10)))
}

/** Files of which the full run makes more than the small one: in the other queue, or with more runs. */
export function filesOfFullRun(patterns: readonly string[]): string[] {
  const makesMore = /\beachLane\(|\bfc\.assert\(|support\/size\.ts/
  return globSync(patterns).filter((file) => makesMore.test(readFileSync(file, 'utf8')))
}
