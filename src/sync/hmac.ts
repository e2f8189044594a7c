import { hash } from 'node:crypto'

/** Bytes of a block of SHA-256, and of what it gives. */
const BLOCK = 64
const DIGEST = 32

/**
 * HMAC-SHA-256 (RFC 2104) with one key over many short texts, as base64url. The same as Node's `createHmac`, which makes an
 * object for each text: in a sweep, ten digests for each customer, that was a third of the time.
 */
export function makeHmac(secret: string): (text: string) => string {
  const bytes = Buffer.from(secret)
  const key = bytes.length > BLOCK ? hash('sha256', bytes, 'buffer') : bytes
  const padded = (pad: number, room: number) => {
    const block = Buffer.alloc(BLOCK + room)
    for (let at = 0; at < BLOCK; at++) block[at] = (key[at] ?? 0) ^ pad
    return block
  }
  let inner = padded(0x36, 1024)
  const outer = padded(0x5c, DIGEST)

  return (text) => {
    // UTF-8 has three bytes for a UTF-16 unit at the most.
    const most = 3 * text.length
    if (inner.length < BLOCK + most) inner = padded(0x36, 2 * most)
    const length = inner.write(text, BLOCK)
    outer.write(hash('sha256', inner.subarray(0, BLOCK + length), 'binary'), BLOCK, 'binary')
    return hash('sha256', outer, 'base64url')
  }
}
