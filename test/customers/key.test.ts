import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { keyOf, keyParts } from '../../src/customers/key.ts'
import { anyText } from '../support/arbitrary.ts'

describe('keyOf', () => {
  it('prints as Postgres prints a jsonb array', () => {
    expect(keyOf(['ES', 'a "b" \\ \n\u0001 ñ'])).toBe('["ES", "a \\"b\\" \\\\ \\n\\u0001 ñ"]')
    expect(keyOf(['a "b"'])).toBe('a "b"')
  })

  it('is undone by keyParts', () => {
    fc.assert(
      fc.property(fc.array(anyText, { minLength: 1, maxLength: 4 }), (parts) => {
        expect(keyParts(keyOf(parts), parts.length)).toEqual(parts)
      }),
    )
  })
})
