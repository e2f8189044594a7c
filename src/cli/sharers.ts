import { hash } from 'node:crypto'

/**
 * How many customers share a `user_id` with another one whom nobody knows yet: two new customers with one `user_id` are told
 * apart by nothing in the ledger, so a dry run remembers them all. It keeps 64 bits of a digest of each `user_id`: among a
 * million customers two of them meet by chance once in 37 million runs.
 */
export function makeSharers() {
  let digests = new BigUint64Array(1024)
  let used = 0
  return {
    add(userId: string): void {
      if (used === digests.length) {
        const larger = new BigUint64Array(2 * used)
        larger.set(digests)
        digests = larger
      }
      digests[used] = BigInt(`0x${hash('sha256', userId, 'hex').slice(0, 16)}`)
      used++
    },
    /** Customers who share with at least one other. */
    count(): number {
      const sorted = digests.slice(0, used).sort()
      return sorted.filter((digest, at) => digest === sorted[at - 1] || digest === sorted[at + 1]).length
    },
  }
}
