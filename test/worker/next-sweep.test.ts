import { expect, test } from 'vitest'
import type { Gap } from '../../src/capture/marks.ts'
import { nextSweep } from '../../src/worker/sweeping.ts'

const NO_GAP: Gap = { ids: [], ready: true }
const WAITS: Gap = { ids: ['3', '7'], ready: false }
const READY: Gap = { ids: ['3', '7'], ready: true }
const OURS = { current: true, swept: true }
const OTHERS = { current: false, swept: true }
const APPLIED = { current: true, swept: false }
const GAP = { kind: 'gap', marks: ['3', '7'] }

test.each([
  // standing, gap, truncated, check due: what is swept for
  [OTHERS, READY, false, true, null],
  [{ current: false, swept: false }, READY, false, true, null],
  [APPLIED, NO_GAP, false, false, { kind: 'mapping' }],
  [APPLIED, READY, true, true, { kind: 'mapping' }],
  [OURS, NO_GAP, false, false, null],
  [OURS, NO_GAP, false, true, { kind: 'check' }],
  [OURS, NO_GAP, true, true, null],
  [OURS, WAITS, false, true, null],
  [OURS, READY, false, true, GAP],
  [OURS, READY, true, false, GAP],
] as const)('%o, %o, truncated: %s, check due: %s', (mapping, gap, truncated, checkDue, next) => {
  expect(nextSweep({ mapping, gap, truncated, checkDue })).toEqual(next)
})
