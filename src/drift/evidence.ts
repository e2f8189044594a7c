// Whether the service can be believed where it says that users are not there, or answers what nobody can read. Such an
// answer is far likelier one about the service than about each of its users, so others are asked before it is confirmed.
import type { ClientBase } from 'pg'
import type { DecidedBy } from '../brake/held.ts'
import type { CustomerKey } from '../model/customer.ts'
import { wasRegistered } from './tally.ts'
import { VERIFIABLE } from './verifiable.ts'
import type { CheckVerdict, DriftCause, DriftKind } from './words.ts'

type Client = Pick<ClientBase, 'query'>

/** What is not confirmed while most of those who were asked lately are told so. */
const STRANGE_KINDS = ['missing', 'unreadable'] as const satisfies readonly DriftKind[]

type Said = Pick<CheckVerdict, 'kind'> & {
  readonly cause?: DriftCause | null
  readonly nobody?: 'known' | 'gone'
}

/** Whoever was never registered is rightly not there. One who was, and vanished, is strange though nobody wants that user. */
export function isStrange({ kind, cause = null, nobody }: Said): boolean {
  if (nobody === 'gone') return true
  return (STRANGE_KINDS as readonly string[]).includes(kind) && (kind !== 'missing' || wasRegistered(cause))
}

/** Whether it says nothing of the service: there is nobody, as was known, or as a backfill would find. */
export function isMute({ kind, cause = null, nobody }: Said): boolean {
  return nobody === 'known' || (kind === 'missing' && !wasRegistered(cause))
}

export type Evidence = {
  /** The newest looks of the last hour, WITNESSES and those of the same moment, and those of them that were told so. */
  readonly asked: number
  readonly denied: number
  /** Customers of whom a look has said something; not counted beyond ENOUGH. */
  readonly most: number
  /** A person has said within a day that it is meant. */
  readonly meant: boolean
}

/** So few answers say nothing of the service as a whole. */
const ENOUGH = 5

export function isDoubted({ asked, denied, most, meant }: Evidence): boolean {
  return !meant && (asked < Math.min(ENOUGH, most) || denied * 2 > asked)
}

/** Of a service that says so of three quarters, twenty are believed once in seventy times; of ten, once in thirteen. */
const WITNESSES = 20

/** Whose last look has said something of the service. */
const TOLD = `l.verdict <> 'absent'`

/**
 * Of first looks alone, by their time (`looked_at`): who is looked at again because of what was seen is no fair sample, and
 * changes the verdict only.
 */
const EVIDENCE = `
SELECT count(*)::float8 AS asked, count(*) FILTER (WHERE verdict = ANY($1))::float8 AS denied,
  (SELECT count(*)::float8 FROM (SELECT FROM rollcall.ledger l WHERE ${VERIFIABLE} AND ${TOLD} LIMIT ${ENOUGH}) few) AS most,
  EXISTS (SELECT FROM rollcall.decision d WHERE d.action = 'believe' AND d.at > now() - interval '1 day'
    AND d.at > (SELECT max(bound_at) FROM rollcall.target)) AS meant
FROM (SELECT l.verdict FROM rollcall.ledger l
  WHERE ${TOLD} AND l.looked_at > now() - interval '1 hour' AND l.looked_at <= now()
  ORDER BY l.looked_at DESC FETCH FIRST ${WITNESSES} ROWS WITH TIES) newest`

/** With all that is stored by now. */
export async function readEvidence(client: Client): Promise<Evidence> {
  const { rows } = await client.query<Evidence>(EVIDENCE, [[...STRANGE_KINDS, 'gone']])
  const [row] = rows
  if (!row) throw new Error('evidence is one row')
  return row
}

/** A person says that it is meant. */
export async function believe(client: Client, { by, why }: DecidedBy): Promise<void> {
  await client.query(`INSERT INTO rollcall.decision (action, by, why) VALUES ('believe', $1, $2)`, [by, why])
}

const OTHERS = `
SELECT l.key FROM rollcall.ledger l
WHERE ${VERIFIABLE} AND l.verdict IS DISTINCT FROM 'absent' AND l.key <> ALL ($1)
  AND NOT EXISTS (SELECT FROM rollcall.finding f WHERE f.key = l.key AND f.resolved_at IS NULL AND f.looks < 2)
ORDER BY l.verdict IS NULL, random() LIMIT ${WITNESSES}`

/** Others, at random, to look at as soon as something strange is said of these; those first who have told something before. */
export async function witnesses(
  client: Client,
  about: readonly CustomerKey[],
): Promise<readonly CustomerKey[]> {
  const { rows } = await client.query<{ key: CustomerKey }>(OTHERS, [about])
  return rows.map(({ key }) => key)
}
