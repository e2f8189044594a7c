import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { keyOf, keyParts } from '../../src/customers/key.ts'

describe('keyParts', () => {
  it('takes a single key as it is, even when it looks like JSON', () => {
    expect(keyParts('["a", "b"]', 1)).toEqual(['["a", "b"]'])
    expect(keyParts('', 1)).toEqual([''])
  })

  it('reads the texts of a composite key', () => {
    expect(keyParts('["ES", "00012"]', 2)).toEqual(['ES', '00012'])
  })

  it.each([
    ['of fewer parts', '["ES"]'],
    ['of more parts', '["ES", "1", "2"]'],
    ['with a NULL in it', '["ES", null]'],
    ['with a number in it', '["ES", 1]'],
    ['from before there were several columns', 'ES'],
    ['that is another kind of JSON', '{"length": 2}'],
  ])('has no parts for a key %s', (_, key) => {
    expect(keyParts(key, 2)).toBeNull()
  })
})

describe('keyOf', () => {
  it('prints as Postgres prints a jsonb array', () => {
    expect(keyOf(['ES', 'a "b" \\ \n\u0001 ñ'])).toBe('["ES", "a \\"b\\" \\\\ \\n\\u0001 ñ"]')
    expect(keyOf(['a "b"'])).toBe('a "b"')
  })

  it('is undone by keyParts', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 4 }), (parts) => {
        expect(keyParts(keyOf(parts), parts.length)).toEqual(parts)
      }),
    )
  })
})
