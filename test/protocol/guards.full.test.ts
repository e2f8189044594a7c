// That the search finds what it is made for: without any one guard of the protocol some run goes wrong.
import { describe, expect, it } from 'vitest'
import { GUARD_NAMES, GUARDS, without } from './guards.ts'
import { find } from './search.ts'

/** The rarest guard shows once in a few thousand runs of its theme. */
const SEARCH = 40_000

describe('the protocol under random interleavings', () => {
  it.each(GUARD_NAMES)('goes wrong without %s', (guard) => {
    const found = find({ guards: without(guard), theme: GUARDS[guard][1] }, SEARCH)
    expect(found, `no run in ${SEARCH} tells that this is gone: ${GUARDS[guard][0]}`).not.toBeNull()
  })
})
