import type { ClientBase, Pool } from 'pg'
import { inTransaction } from '../database/transaction.ts'
import { releasedFor } from '../ledger/released.ts'
import { verifyNow } from '../ledger/verification.ts'
import type { CustomerKey } from '../model/customer.ts'
import type { BrakeKind, HeldKind } from './brake.ts'

const LOCK_TIMEOUT_MS = 10_000

/** In a statement of its own after the lock, so that it sees who was counted meanwhile. */
const LOCK = 'SELECT kind FROM rollcall.brake WHERE kind = $1 AND tripped_at IS NOT NULL FOR UPDATE'
const SOMEBODY = `
SELECT EXISTS (
  SELECT FROM rollcall.ledger l WHERE l.state = 'held' AND l.reason->'kinds' ? $1 AND NOT ${releasedFor('$1')}) AS waits`
const RESET =
  'UPDATE rollcall.brake SET tripped_at = NULL, tripped_at_limit = NULL, taken = 0, expected = 0 WHERE kind = $1'
/**
 * Who was let through while a service knew nobody may be there all the same. It is the service's turn to say so, once a
 * person has looked.
 */
const LET_THROUGH = 'SELECT key FROM rollcall.brake_entry WHERE kind = $1 AND NOT forgotten'
const FORGET = 'UPDATE rollcall.brake_entry SET forgotten = true WHERE kind = $1'

/**
 * A person has looked at everybody who was held for these kinds: they let through again who is new to them, and
 * counting begins anew; whoever was announced and has not come is announced no more. A kind for which somebody waits
 * still stays tripped. `record` writes the decision, in the transaction of the first kind, where none has been written
 * yet.
 */
export async function untrip(
  pool: Pool,
  kinds: readonly HeldKind[],
  record: (client: ClientBase) => Promise<string | null>,
): Promise<{ readonly untripped: readonly BrakeKind[]; readonly decision: string | null }> {
  const untripped: BrakeKind[] = []
  let decision: string | null = null
  for (const kind of kinds.filter((each): each is BrakeKind => each !== 'truncated').sort()) {
    await inTransaction(pool, LOCK_TIMEOUT_MS, async (client) => {
      const { rowCount } = await client.query(LOCK, [kind])
      if (rowCount === 0) return
      const { rows } = await client.query<{ waits: boolean }>(SOMEBODY, [kind])
      if (rows[0]?.waits !== false) return
      if (kind === 'absence') await verifyNow(client, await letThrough(client, kind))
      await client.query(RESET, [kind])
      await client.query(FORGET, [kind])
      decision ??= await record(client)
      untripped.push(kind)
    })
  }
  return { untripped, decision }
}

async function letThrough(client: ClientBase, kind: BrakeKind): Promise<readonly CustomerKey[]> {
  const { rows } = await client.query<{ key: CustomerKey }>(LET_THROUGH, [kind])
  return rows.map(({ key }) => key)
}
