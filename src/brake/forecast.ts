// How the brake stands, and what it will hold; nothing is locked.
import type { Config } from '../config/config.ts'
import type { Client } from '../database/client.ts'
import type { CustomerKey } from '../model/customer.ts'
import { type Bases, type BrakeKind, baseOf, limitOf, ruleOf } from './brake.ts'
import { BY_TRUNCATE, type KindCounts } from './decide.ts'

const COUNTS = `
SELECT b.kind, b.tripped_at IS NOT NULL AS tripped,
  CASE WHEN b.expected_until > clock_timestamp() THEN b.expected ELSE 0 END AS expected,
  (SELECT count(*)::int FROM rollcall.brake_entry e
   WHERE e.kind = b.kind AND NOT e.forgotten AND e.at > clock_timestamp() - $1 * interval '1 hour') AS taken
FROM rollcall.brake b`

export async function readKindCounts(client: Client, windowHours: number): Promise<readonly KindCounts[]> {
  return (await client.query<KindCounts>(COUNTS, [windowHours])).rows
}

const COUNTED = `
SELECT e.kind, e.key FROM rollcall.brake_entry e JOIN rollcall.brake b USING (kind)
WHERE e.key = ANY($1) AND e.at > clock_timestamp() - $2 * interval '1 hour' AND (NOT e.forgotten OR e.expected)
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

/** Forecasts what becomes of so many customers that the brake counts under a kind. */
export type BrakeForecast = {
  readonly kind: BrakeKind
  readonly customers: number
  readonly through: number
  readonly held: number
  /** It holds all customers already, because it has tripped or a watched table was truncated. */
  readonly tripped: boolean
}

type Asking = {
  readonly customers: Readonly<Partial<Record<BrakeKind, number>>>
  readonly kindCounts: readonly KindCounts[]
  readonly bases: Bases
  readonly rules: Config['brake']
  /** Registrations that are expected from now on; null: as many as before. */
  readonly expectCreates: number | null
  /** A watched table was truncated, and no person has decided what that means. */
  readonly truncated: boolean
}

/** In the order of how many are held. */
export function forecastBrake(asking: Asking): readonly BrakeForecast[] {
  const { customers, kindCounts, bases, rules, expectCreates, truncated } = asking
  const entries = Object.entries(customers) as [BrakeKind, number][]

  /** Each registration is one more of which a share may be registered, so that the limit moves ahead of them. */
  function roomFor(kind: BrakeKind, count: number, taken: number): number {
    const base = baseOf(kind, bases)
    let room = 0
    for (;;) {
      const grown = kind === 'create' ? base + room : base
      const next = Math.min(count, Math.max(0, limitOf(ruleOf(kind, rules), grown) - taken))
      if (next <= room) return room
      room = next
    }
  }

  return entries
    .map(([kind, count]): BrakeForecast => {
      const found = kindCounts.find((each) => each.kind === kind)
      const { taken, expected } = found ?? { taken: 0, expected: 0 }
      const tripped = found?.tripped === true || (truncated && BY_TRUNCATE.includes(kind))
      const passing = kind === 'create' && expectCreates !== null ? expectCreates : expected
      const room = roomFor(kind, Math.max(0, count - passing), taken)
      const through = tripped ? 0 : Math.min(count, passing + room)
      return { kind, customers: count, through, held: count - through, tripped }
    })
    .toSorted((a, b) => b.held - a.held || b.customers - a.customers)
}
