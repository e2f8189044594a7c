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

/** Whether it says nothing of the service: there is nobody, as was known. */
export function isMute({ nobody }: Said): boolean {
  return nobody === 'known'
}

export type Evidence = {
  /** The newest looks of the last hour, WITNESSES at most, and those of them that were told so. */
  readonly asked: number
  readonly denied: number
  /** Customers of whom a look can say something; not counted beyond ENOUGH. */
  readonly most: number
  /** A person has said within a day that it is meant. */
  readonly meant: boolean
}

/** So few answers say nothing of the service as a whole. */
const ENOUGH = 5

export function isDoubted({ asked, denied, most, meant }: Evidence): boolean {
  return !meant && (asked < Math.min(ENOUGH, most) || denied * 2 > asked)
}

const WITNESSES = 10

/** Whose last look has said something of the service, if there was one. */
const TOLD = `l.verdict IS DISTINCT FROM 'absent'`
const TELLING = `${VERIFIABLE} AND ${TOLD}`

const EVIDENCE = `
SELECT count(*)::float8 AS asked, count(*) FILTER (WHERE verdict = ANY($1))::float8 AS denied,
  (SELECT count(*)::float8 FROM (SELECT FROM rollcall.ledger l WHERE ${TELLING} LIMIT ${ENOUGH}) few) AS most,
  EXISTS (SELECT FROM rollcall.decision d WHERE d.action = 'believe' AND d.at > now() - interval '1 day'
    AND d.at > (SELECT max(bound_at) FROM rollcall.target)) AS meant
FROM (SELECT l.verdict FROM rollcall.ledger l
  WHERE ${TOLD} AND l.looked_at > now() - interval '1 hour' AND l.looked_at <= now() AND l.key <> ALL ($2)
  ORDER BY l.looked_at DESC LIMIT greatest(0, ${WITNESSES} - $3)) newest`

/** What a batch of looks has just shown, and is not stored yet. */
type Batch = { readonly fine: readonly CustomerKey[]; readonly strange: readonly CustomerKey[] }

/**
 * With those of the batch who are there, then with what is stored of others, and last with those who are told not to be
 * there: many of one kind who are looked at together say little of the rest.
 */
export async function readEvidence(
  client: Client,
  { fine, strange }: Batch = { fine: [], strange: [] },
): Promise<Evidence> {
  const said = [[...STRANGE_KINDS, 'gone'], [...fine, ...strange], fine.length]
  const { rows } = await client.query<Evidence>(EVIDENCE, said)
  const [row] = rows
  if (!row) throw new Error('evidence is one row')
  const asked = Math.min(WITNESSES, fine.length) + row.asked
  const own = Math.min(strange.length, WITNESSES - asked)
  return { ...row, asked: asked + own, denied: row.denied + own }
}

/** A person says that it is meant. */
export async function believe(client: Client, { by, why }: DecidedBy): Promise<void> {
  await client.query(`INSERT INTO rollcall.decision (action, by, why) VALUES ('believe', $1, $2)`, [by, why])
}

const LATELY = `now() - interval '5 seconds'`

/** Looks since the first of the suspicions that are as young, or for as long: what came before may have been another service. */
const OTHERS = `
WITH lately AS (SELECT FROM rollcall.ledger l
  WHERE l.looked_at > (SELECT coalesce(min(f.first_seen), ${LATELY}) FROM rollcall.finding f
      WHERE f.first_seen > ${LATELY} AND f.resolved_at IS NULL AND f.kind = ANY ($2))
    AND l.looked_at <= now() AND ${TELLING} AND l.key <> ALL ($1) LIMIT ${WITNESSES})
SELECT l.key FROM rollcall.ledger l WHERE ${TELLING} AND l.key <> ALL ($1)
ORDER BY random() LIMIT ${WITNESSES} - (SELECT count(*) FROM lately)`

/** Others, at random, to look at as soon as something strange is said of these; none where enough were looked at just now. */
export async function witnesses(
  client: Client,
  about: readonly CustomerKey[],
): Promise<readonly CustomerKey[]> {
  const { rows } = await client.query<{ key: CustomerKey }>(OTHERS, [about, STRANGE_KINDS])
  return rows.map(({ key }) => key)
}
