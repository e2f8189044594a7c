import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readBody } from '../../src/service/json.ts'

const bytes = (text: string): Uint8Array => Buffer.from(text)

describe('readBody', () => {
  it.each([
    ['an object', bytes('{"a":[1,"x"]}'), { kind: 'json', value: { a: [1, 'x'] } }],
    ['a byte order mark before it', bytes('\ufeff{"a":1}'), { kind: 'json', value: { a: 1 } }],
    ['a scalar', bytes(' true\n'), { kind: 'json', value: true }],
    ['JSON null, which is not "no body"', bytes('null'), { kind: 'json', value: null }],
    [
      'brackets inside text',
      bytes(JSON.stringify({ a: '[{"'.repeat(500) })),
      { kind: 'json', value: { a: '[{"'.repeat(500) } },
    ],
    ['nothing', bytes(''), { kind: 'none' }],
    ['white space', bytes(' \r\n\t'), { kind: 'none' }],
    ['only a byte order mark', bytes('\ufeff'), { kind: 'none' }],
    ['a bare word that says yes', bytes(' OK\r\n'), { kind: 'json', value: 'OK' }],
    ['a word that does not', bytes('KO'), { kind: 'unreadable' }],
    ['a sentence', bytes('OK, but not stored'), { kind: 'unreadable' }],
    ['HTML', bytes('<!doctype html><p>{"a":1}'), { kind: 'unreadable' }],
    ['JSON and something after it', bytes('{"a":1} OK'), { kind: 'unreadable' }],
    ['half of it', bytes('{"a":'), { kind: 'unreadable' }],
    ['invalid UTF-8', Buffer.from('{"a":"\xff"}', 'latin1'), { kind: 'unreadable' }],
    ['another encoding', Buffer.from('{"a":1}', 'utf16le'), { kind: 'unreadable' }],
    ['compressed bytes that nobody asked for', gzipSync('{"a":1}'), { kind: 'unreadable' }],
    ['absurd nesting', bytes('['.repeat(300_000) + ']'.repeat(300_000)), { kind: 'unreadable' }],
    ['nesting that never closes', bytes('{"a":'.repeat(100_000)), { kind: 'unreadable' }],
  ])('%s', (_name, body, expected) => expect(readBody(body)).toEqual(expected))

  it('keeps names from outside harmless', () => {
    expect(readBody(bytes('{"__proto__":{"polluted":true}}'))).toMatchObject({ kind: 'json' })
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })

  it('reads whatever JSON writes, and is total over bytes', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        expect(readBody(bytes(JSON.stringify(value)))).toEqual({
          kind: 'json',
          value: JSON.parse(JSON.stringify(value)),
        })
      }),
    )
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (any) => void readBody(any)))
  })
})
