// Properties are tried with one seed in the whole run, which its last lines tell: TEST_SEED repeats it.
import fc from 'fast-check'
import { runs } from './size.ts'

fc.configureGlobal({ seed: Number(process.env.TEST_SEED), numRuns: runs(100) })
