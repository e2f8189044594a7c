import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { WITHOUT_BROWSER } from './test/support/browser.ts'
import { findDistribution } from './test/support/distribution.ts'
import { noteMissing } from './test/support/missing.ts'
import { LongestFirst } from './test/support/order.ts'
import { LastLine } from './test/support/reporter.ts'
import { FULL, filesOfFullRun, HEAVY } from './test/support/size.ts'

process.env.TEST_SEED ??= String(Math.floor(Math.random() * 2 ** 31))
// The small run has the Postgres that npm brings, the full one that of the system: another version, and with JIT.
if (FULL) process.env.TEST_POSTGRES_BIN ??= findDistribution() ?? ''
if (FULL && !process.env.TEST_POSTGRES_BIN)
  noteMissing('Postgres with JIT: none on the PATH (apt-get install postgresql)')
if (FULL && WITHOUT_BROWSER)
  noteMissing('the report page: no chromium on the PATH (apt-get install chromium)')

// `*.pg.test.ts` and test/flow need Postgres and perhaps Redis, which test/support/global-setup.ts provides once for a
// project; a run of unit tests alone starts no server.
const servers = ['test/**/*.pg.test.ts', 'test/flow/**/*.test.ts']
const all = ['test/**/*.test.ts']

// Waits fail by themselves once nothing moves any more (test/support/until.ts); these limits only stop what hangs.
const hangs = { testTimeout: 300_000, hookTimeout: 120_000, teardownTimeout: 60_000 }
const common = {
  ...hangs,
  setupFiles: ['test/support/seed.ts'],
  expect: { poll: { timeout: 60_000 } },
  // A library in the older format of modules is imported as Node and the bundle import it.
  deps: { interopDefault: false },
}

const unit = { ...common, exclude: [...servers, ...HEAVY], isolate: false }
const onServers = { ...common, isolate: false, globalSetup: ['test/support/global-setup.ts'] }

const small = [
  { test: { ...unit, name: 'unit', include: all } },
  { test: { ...onServers, name: 'servers', include: servers, exclude: HEAVY, env: { TEST_LANES: 'first' } } },
]

/** What the small run leaves out: more runs of the properties, the other queue, and what is heavy. */
const full = [
  { test: { ...unit, name: 'unit', include: filesOfFullRun(all) } },
  {
    test: {
      ...onServers,
      name: 'servers',
      include: filesOfFullRun(servers),
      exclude: HEAVY,
      env: { TEST_LANES: 'other' },
    },
  },
  { test: { ...onServers, name: 'heavy', include: HEAVY, env: { TEST_LANES: 'both' } } },
]

// Tests wait more than they reckon: two workers more than there are cores.
export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    pool: 'forks',
    maxWorkers: availableParallelism() + 2,
    reporters: ['default', new LastLine()],
    projects: FULL ? full : small,
  },
})
