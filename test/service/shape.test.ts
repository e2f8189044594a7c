import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { CUSTOMARY, shapeOf } from '../../src/service/shape.ts'
import { runs } from '../support/size.ts'

describe('shapeOf', () => {
  const user = { user_id: 'u1', status: 2, email: 'ana@example.com', first_name: null, vip: true }

  test.each<[unknown, string]>([
    [null, 'null'],
    ['OK', 'string'],
    [12, 'number'],
    [false, 'boolean'],
    [{}, '{}'],
    [[], '[]'],
    [user, '{(fields): null | string, *: boolean, status: number, user_id: string}'],
    [{ type: 1, data: { id: [] } }, '{data: {id: []}, type: number}'],
    [[1, 'a', 2, null], '[null | number | string]'],
    [[{ id: 1 }, { id: 'x' }, { id: 2 }], '[{id: number} | {id: string}]'],
  ])('%j is %s', (value, shape) => expect(shapeOf(value)).toBe(shape))

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
    expect(shapeOf({ errors: { [key]: ['bad'] } })).toBe('{errors: {*: [string]}}')
  })

  it.each(['garcia', 'Begona_Zarraga', 'zoila_quintanilla', 'KONTRAKT', '_7654'])(
    'shows no word that is not a customary one: %s',
    (key) => {
      expect(shapeOf({ [key]: 1, address: 'x', MESSAGE: 'y' })).toBe('{*: number | string, MESSAGE: string}')
    },
  )

  it('is the same for every user, whichever fields it has', () => {
    const shapes = [{ email: 'a@b.es' }, { nid_number: 'x', md_group_name: 'y' }].map((fields) =>
      shapeOf({ data: { user_id: 'u', status: 2, ...fields } }),
    )
    expect(new Set(shapes)).toEqual(new Set(['{data: {(fields): string, status: number, user_id: string}}']))
  })

  it('tells which fields an error is about', () => {
    const errors = { user_id: ['taken'], email: ['bad'] }
    expect(shapeOf({ errors })).toBe('{errors: {email: [string], user_id: [string]}}')
    expect(shapeOf({ email: 'is bad' })).toBe('{email: string}')
  })

  it('puts the hidden keys together, so that neither their number nor their order shows', () => {
    expect(shapeOf({ 'a@b.es': 1, 'c@d.es': 'x', id: 0 })).toBe('{*: number | string, id: number}')
  })

  it('is bounded in depth, keys and length', () => {
    expect(shapeOf([[[[[[1]]]]]])).toBe('[[[[[[…]]]]]]')
    const names =
      'action api body cause code count data date detail entity error extra field file help id info item'
    const more =
      'key kind level limit line link list meta method name next object offset page param path port title'
    const many = Object.fromEntries(`${names} ${more}`.split(' ').map((name) => [name, 1]))
    expect(shapeOf(many)).toMatch(/, …}$/)
    const wide = Object.fromEntries(Object.keys(many).map((name) => [name, many]))
    expect(shapeOf(wide)).toHaveLength(1001)
  })
})

/** Words that stand in a shape by themselves. */
const WORDS = ['string', 'number', 'boolean', 'null', 'object', '(fields)', ...CUSTOMARY].join(' ')

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
      const shape = shapeOf(body).toLowerCase()
      for (const text of [...hide, ...textsOf(body)]) {
        const lower = text.toLowerCase()
        if (lower.replaceAll(SIGNS, '').length < 3 || WORDS.includes(lower)) continue
        expect(shape).not.toContain(lower)
      }
    }),
    { numRuns: runs(2000) },
  )
})

/** The shape has some of its own, which a text of signs and two letters may meet by chance, as `[st` does `[string]`. */
const SIGNS = /[^\p{L}\p{N}]/gu

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(textsOf)
}
