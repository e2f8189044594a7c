// The addresses in control bodies are later shown as `format: uri`, so they are URIs for every reader (RFC 3986).
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { professional } from '../../src/service/chat-schema.ts'
import { runs } from '../support/size.ts'

const ajv = new Ajv2020()
addFormats.default(ajv)
const isUri = ajv.compile({ type: 'string', format: 'uri' })
/** As it is kept, without white space around it; undefined: refused. */
const kept = (text: string) => professional.shape.photo.safeParse(text).data

it.each(['https://a.example/b%20c.jpg?d=e&f#g', 'http://[::1]:80/a', 'data:image/png;base64,AA=='])(
  '%s is taken',
  (text) => {
    expect([kept(text), isUri(text)]).toEqual([text, true])
  },
)

it.each([
  'https://ñ.example/a',
  'https://x/ü foto.jpg',
  'https://x/%zz',
  'https://x/a#b#c',
  'https://x/a b',
  '/a.jpg',
])('%s is refused', (text) => {
  expect(kept(text)).toBeUndefined()
})

it('nothing is taken that others do not', () => {
  const part = fc.constantFrom(
    ...['//', '/', ':', '@', '[', ']', '::1', '%', '%20', '#', '?', 'a', '1', 'ñ', ' ', '|', '^'],
  )
  const text = fc.array(part).map((parts) => ['https:', ...parts].join(''))
  const address = fc.webUrl({ withFragments: true, withQueryParameters: true })
  fc.assert(
    fc.property(fc.oneof(address, text), (any) => {
      const taken = kept(any)
      if (taken !== undefined) expect(isUri(taken), any).toBe(true)
    }),
    { numRuns: runs(1000) },
  )
})
