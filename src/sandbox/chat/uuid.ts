/** UUIDs of version 4 from a random source of one's own, so that the same seed gives the same ids. */
export function makeUuid(random: () => number): () => string {
  return () => {
    const bytes = Uint8Array.from({ length: 16 }, () => Math.floor(random() * 256))
    bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
    bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
    return Buffer.from(bytes)
      .toString('hex')
      .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  }
}
