import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { makeHmac } from '../../src/sync/digest.ts'

test.each([0, 63, 64, 65, 1000])(
  "is Node's own HMAC with a key of %i bytes, also of texts that outgrow its room",
  (length) => {
    const secret = 'k'.repeat(length)
    const hmac = makeHmac(secret)
    for (const text of ['', 'é'.repeat(400), '\ud800', '😀'.repeat(5000), 'short again'])
      expect(hmac(text)).toBe(createHmac('sha256', secret).update(text).digest('base64url'))
  },
)
