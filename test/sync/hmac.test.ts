import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { makeHmac } from '../../src/sync/hmac.ts'

const any = fc.string({ unit: 'binary', maxLength: 200 })

test("is Node's own HMAC, whatever the key and the texts, one after another", () => {
  fc.assert(
    fc.property(any, fc.array(any, { maxLength: 5 }), (secret, texts) => {
      const hmac = makeHmac(secret)
      for (const text of texts)
        expect(hmac(text)).toBe(createHmac('sha256', secret).update(text).digest('base64url'))
    }),
  )
})

test.each([0, 63, 64, 65, 1000])('also with a key of %i bytes, and texts that outgrow its room', (length) => {
  const secret = 'k'.repeat(length)
  const hmac = makeHmac(secret)
  for (const text of ['', 'é'.repeat(400), '\ud800', '😀'.repeat(5000), 'short again'])
    expect(hmac(text)).toBe(createHmac('sha256', secret).update(text).digest('base64url'))
})
