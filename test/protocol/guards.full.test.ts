import { describe, expect, it } from 'vitest'
import { type Entry, GUARD_NAMES, GUARDS, without } from './guards.ts'
import { find } from './search.ts'

/** The rarest guard shows once in many thousand runs of its theme. */
const SEARCH = 40_000

describe('the protocol under random interleavings', () => {
  it.each(GUARD_NAMES)('goes wrong without %s', (guard) => {
    const [says, theme, seed]: Entry = GUARDS[guard]
    const found = find({ guards: without(guard), theme }, SEARCH, seed)
    expect(found, `no run in ${SEARCH} tells that this is gone: ${says}`).not.toBeNull()
  })
})
