// How the brake stands, for those who foretell what it will hold; nothing is locked.
import type { ClientBase } from 'pg'
import type { CustomerKey } from '../model/customer.ts'
import type { BrakeKind } from './brake.ts'

type Client = Pick<ClientBase, 'query'>

export type KindStanding = {
  readonly kind: BrakeKind
  /** Customers let through within the window. */
  readonly taken: number
  readonly tripped: boolean
  /** How many more are announced. */
  readonly expected: number
}

const STANDING = `
SELECT b.kind, b.tripped_at IS NOT NULL AS tripped,
  CASE WHEN b.expected_until > clock_timestamp() THEN b.expected ELSE 0 END AS expected,
  (SELECT count(*)::int FROM rollcall.brake_entry e
   WHERE e.kind = b.kind AND NOT e.forgotten AND e.at > clock_timestamp() - $1 * interval '1 hour') AS taken
FROM rollcall.brake b`

export async function readStandings(client: Client, windowHours: number): Promise<readonly KindStanding[]> {
  return (await client.query<KindStanding>(STANDING, [windowHours])).rows
}

const COUNTED = `
SELECT e.kind, e.key FROM rollcall.brake_entry e JOIN rollcall.brake b USING (kind)
WHERE e.key = ANY($1) AND e.at > clock_timestamp() - $2 * interval '1 hour' AND (NOT e.forgotten OR e.announced)
  AND b.tripped_at IS NULL`

/** Under which kinds these customers were let through within the window: they pass again, uncounted, unless it tripped. */
export async function readCounted(
  client: Client,
  keys: readonly CustomerKey[],
  windowHours: number,
): Promise<ReadonlyMap<CustomerKey, readonly BrakeKind[]>> {
  if (keys.length === 0) return new Map()
  const { rows } = await client.query<{ kind: BrakeKind; key: CustomerKey }>(COUNTED, [keys, windowHours])
  const counted = Map.groupBy(rows, ({ key }) => key)
  return new Map([...counted].map(([key, found]) => [key, found.map(({ kind }) => kind)]))
}
