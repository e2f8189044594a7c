import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { USER_FIELDS } from '../../src/model/user.ts'
import { shapeOf } from '../../src/service/shape.ts'

describe('shapeOf', () => {
  const user = { user_id: 'u1', status: 2, email: 'ana@example.com', first_name: null, vip: true }

  test.each<[unknown, string]>([
    [null, 'null'],
    ['OK', 'string'],
    [12, 'number'],
    [false, 'boolean'],
    [{}, '{}'],
    [[], '[]'],
    [user, '{(fields): null | string, status: number, user_id: string, vip: boolean}'],
    [{ b: 1, a: { c: [] } }, '{a: {c: []}, b: number}'],
    [[1, 'a', 2, null], '[null | number | string]'],
    [[{ a: 1 }, { a: 'x' }, { a: 2 }], '[{a: number} | {a: string}]'],
  ])('%j is %s', (value, shape) => {
    expect(shapeOf(value, [])).toBe(shape)
  })

  test.each([
    ['an address', 'ana@example.com'],
    ['a document', '12345678Z'],
    ['a document that begins with a letter', 'X1234567L'],
    ['a telephone number', '600123456'],
    ['a date', '1980-02-29'],
    ['words', 'Ana María'],
    ['a uuid', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'],
    ['a long text', 'a'.repeat(41)],
  ])('a key that is %s is not shown', (_what, key) => {
    expect(shapeOf({ errors: { [key]: ['bad'] } }, [])).toBe('{errors: {*: [string]}}')
  })

  it('does not show a key that is what was sent, holds it or is a part of it, whatever the case', () => {
    const shape = shapeOf({ anagarcia: 1, GARCIA: 2, user_garcia_9: 3, garc: 4, es: 5, address: 6 }, [
      'García',
      'garcia',
      'ES',
    ])
    expect(shape).toBe('{*: number, address: number}')
  })

  it('does not show a key that is a value in the same body', () => {
    expect(shapeOf({ garcia: { surname: 'Garcia' } }, [])).toBe('{*: {surname: string}}')
  })

  it('shows the names of the interface whatever was sent, so that one answer has one shape for all customers', () => {
    const values = ['the email and the status', 'error']
    expect(shapeOf({ email: 'x', status: 2, error: { code: 'error_code' } }, values)).toBe(
      '{email: string, error: {code: string}, status: number}',
    )
  })

  it('is the same for every user, whichever fields it has', () => {
    const shapes = [{ email: 'a@b.es' }, { nid_number: 'x', md_group_name: 'y' }].map((fields) =>
      shapeOf({ data: { user_id: 'u', status: 2, ...fields } }, []),
    )
    expect(new Set(shapes)).toEqual(new Set(['{data: {(fields): string, status: number, user_id: string}}']))
  })

  it('tells which fields an error is about', () => {
    const errors = { user_id: ['taken'], email: ['bad'] }
    expect(shapeOf({ errors }, [])).toBe('{errors: {email: [string], user_id: [string]}}')
    expect(shapeOf({ email: 'is bad' }, [])).toBe('{email: string}')
  })

  it('puts the hidden keys together, so that neither their number nor their order shows', () => {
    expect(shapeOf({ 'a@b.es': 1, 'c@d.es': 'x', z: 0 }, [])).toBe('{*: number | string, z: number}')
  })

  it('is bounded in depth, keys and length', () => {
    expect(shapeOf([[[[[[1]]]]]], [])).toBe('[[[[[[…]]]]]]')
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`key_${letters(i)}`, 1]))
    const shape = shapeOf(many, [])
    expect(shape.match(/key_/g)).toHaveLength(30)
    expect(shape).toMatch(/, …}$/)
    const wide = Object.fromEntries(
      Array.from({ length: 30 }, (_, i) => [`${'k'.repeat(36)}${letters(i)}`, many]),
    )
    expect(shapeOf(wide, [])).toHaveLength(1001)
  })

  it('takes no time for a body that is made to take time', () => {
    const wide = Array.from({ length: 1000 }, (_, i) =>
      Object.fromEntries(
        Array.from({ length: 40 }, (_, j) => [`${letters(i)}_${letters(j)}`, `${letters(j)}-${letters(i)}`]),
      ),
    )
    const started = performance.now()
    shapeOf(wide, [])
    // Compared one by one it takes many times that.
    expect(performance.now() - started).toBeLessThan(3000)
  })

  it('does not compare with a text that is too long, and shows no doubtful key then', () => {
    expect(shapeOf({ surname: 'x'.repeat(200_000), email: 'y' }, [])).toBe('{*: string, email: string}')
  })
})

function letters(n: number): string {
  return n.toString(26).replace(/\d/g, (digit) => 'qrstuvwxyz'[Number(digit)] ?? '')
}

/** What stands in a shape of itself. */
const WORDS = ['string', 'number', 'boolean', 'null', 'object', ...USER_FIELDS].join(' ')

const texts = fc.oneof(
  fc.string({ minLength: 3, maxLength: 12 }),
  fc.stringMatching(/^[a-z]{3,8}$/),
  fc.constantFrom('ana@example.com', '12345678Z', 'Ana García', '+34 600 123 456', 'MI-GRUPO', 'garcia'),
)
/** Keys are often the values themselves, or hold them. */
const bodies = fc.array(texts, { minLength: 1, maxLength: 6 }).chain((values) => {
  const text = fc.constantFrom(...values)
  const key = fc.oneof(
    text,
    text.map((value) => `x_${value}`),
    text.map((value) => value.slice(0, -1)),
    texts,
  )
  const { body } = fc.letrec((tie) => ({
    body: fc.oneof(
      { depthSize: 'small' },
      text,
      fc.integer(),
      fc.constant(null),
      fc.array(tie('body'), { maxLength: 4 }),
      fc.dictionary(key, tie('body'), { maxKeys: 6 }),
    ),
  }))
  return fc.record({ body, hide: fc.constant(values) })
})

test('no text of the body and nothing of what was sent stands in its shape', () => {
  fc.assert(
    fc.property(bodies, ({ body, hide }) => {
      const shape = shapeOf(body, hide).toLowerCase()
      for (const text of [...hide, ...textsOf(body)]) {
        const lower = text.toLowerCase()
        if (lower.length < 3 || WORDS.includes(lower) || PUNCTUATION.test(lower)) continue
        expect(shape).not.toContain(lower)
      }
    }),
    { numRuns: 2000 },
  )
})

/** The shape's own signs, which a text of signs alone may meet by chance. */
const PUNCTUATION = /^[^\p{L}\p{N}]+$/u

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(textsOf)
}
