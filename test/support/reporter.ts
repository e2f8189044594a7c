// Ends the output of every run with what it left out, and with one line that a script can read:
// `N passed, M failed, K skipped`.
import type { Reporter, TestModule } from 'vitest/node'
import { missing } from './missing.ts'
import { FULL } from './size.ts'

export type Counts = { passed: number; failed: number; skipped: number }

/**
 * Failures outside tests count (a file that did not load, a hook that threw, an error that belongs to no test). So
 * "0 failed" means that everything is well.
 */
export function count(modules: readonly TestModule[], errors: number): Counts {
  const counts = { passed: 0, failed: errors, skipped: 0 }
  for (const module of modules) {
    const before = counts.failed
    for (const test of module.children.allTests()) {
      const { state } = test.result()
      if (state === 'passed') counts.passed += 1
      else if (state === 'skipped') counts.skipped += 1
      else counts.failed += 1
    }
    if (module.state() === 'failed' && counts.failed === before) counts.failed += 1
  }
  return counts
}

const LEFT =
  'left to `npm run test:full`: the other queue, another Postgres, heavy stories, more runs of each property'

export class LastLine implements Reporter {
  #counts: Counts = { passed: 0, failed: 0, skipped: 0 }

  onInit(): void {
    // At the exit of the process, because the other reporters and the teardown still print after the run.
    process.once('exit', (code) => {
      const { passed, failed, skipped } = this.#counts
      for (const what of missing()) process.stdout.write(`not tested: ${what}\n`)
      if (!FULL) process.stdout.write(`${LEFT}\n`)
      if (process.env.TEST_SEED)
        process.stdout.write(`TEST_SEED=${process.env.TEST_SEED} repeats the properties\n`)
      // A run that ended badly without a failed test (no server could be had) has failed too.
      const atLeast = code === 0 ? 0 : 1
      process.stdout.write(`${passed} passed, ${Math.max(failed, atLeast)} failed, ${skipped} skipped\n`)
    })
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    this.#counts = count(modules, errors.length)
  }
}
