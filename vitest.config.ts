import { defineConfig } from 'vitest/config'
import { LastLine } from './test/support/reporter.ts'

// Two projects, so that a run of unit tests alone starts no server: `*.pg.test.ts` and test/flow need
// Postgres and perhaps Redis, which test/support/global-setup.ts provides once for the whole run.
const servers = ['test/**/*.pg.test.ts', 'test/flow/**/*.test.ts']

export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: 2,
    teardownTimeout: 30_000,
    reporters: ['default', new LastLine()],
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: servers,
          testTimeout: 30_000,
          expect: { poll: { timeout: 8000 } },
        },
      },
      {
        test: {
          name: 'servers',
          include: servers,
          globalSetup: ['test/support/global-setup.ts'],
          testTimeout: 30_000,
          // Of the tests of one file that run side by side; of more the claims run out of time on a busy machine.
          maxConcurrency: 3,
          hookTimeout: 60_000,
          expect: { poll: { timeout: 8000 } },
        },
      },
    ],
  },
})
