// Decisions of a person about held customers; list.ts shows these. The person, the time and the reason
// are kept in `decision`, for each customer in `decided`.
import type { ClientBase, Pool } from 'pg'
import { retried } from '../database/batch.ts'
import { keysBy, oneRow } from '../database/client.ts'
import { inTransaction } from '../database/transaction.ts'
import { DISCARDED_NOW, IS_DISCARDED, OPEN_RELEASE, releasedFor } from '../ledger/decided.ts'
import { LOCK_OWED, UNDER_WAY } from '../ledger/note.ts'
import { noteLookup, noteNow, verifyNow } from '../ledger/note-unchanged.ts'
import { type CustomerKey, LANE } from '../model/customer.ts'
import type { BrakeKind, HeldKind } from './brake.ts'

export type HeldSelection = { readonly kind: HeldKind } | { readonly keys: readonly CustomerKey[] }

export type DecidedBy = { readonly by: string; readonly why: string }

export type DecisionOutcome = {
  /** Its id in the log of decisions; null: there was nothing to decide. */
  readonly decision: string | null
  readonly customers: number
  /** Customers among the named ones who still need a decision: held meanwhile, or synced at this moment. */
  readonly left: number
  /** Kinds that let new customers through again; counting has begun anew. */
  readonly reset: readonly BrakeKind[]
}

/**
 * Lets them through: exactly for what was held. Their version rises, because nothing may make an idle customer due
 * again at the same version (docs/protocol.md). They are due in the lane of repairs, behind live changes.
 *
 * Pages in transactions of their own: killed in the middle, the next call goes on; two at once share the work.
 */
export function release(pool: Pool, choice: HeldSelection & DecidedBy): Promise<DecisionOutcome> {
  return carryOut(pool, choice, RELEASE)
}

/** Leaves the service as it is for them, until they change. A customer that is planned again at this moment is left alone. */
export function discard(pool: Pool, choice: HeldSelection & DecidedBy): Promise<DecisionOutcome> {
  return carryOut(pool, choice, DISCARD)
}

/** `kind`: the one that was decided on; null: all that these customers are held for. */
type Meant = { readonly keys: readonly CustomerKey[]; readonly kind: HeldKind | null }

type Action = {
  readonly name: 'release' | 'discard'
  /** Which of a page it is about, over `l` and `o`, once their work rows are locked. */
  readonly where: (kind: HeldKind | null) => string
  readonly apply: (client: ClientBase, decision: string, page: Meant) => Promise<void>
}

/** By its key also what was discarded can be released, unless a claim is under way that would discard it anew. */
const RELEASE: Action = {
  name: 'release',
  where: (kind) =>
    kind === null
      ? `(l.state = 'held' OR ${IS_DISCARDED}) AND NOT (l.discard IS NOT NULL AND ${UNDER_WAY}) AND NOT ${OPEN_RELEASE}`
      : `l.state = 'held' AND NOT ${releasedFor('$2')}`,
  async apply(client, decision, { keys, kind }) {
    await client.query(DECIDE, [decision, keys, false, kind])
    const toLookUp = await keysBy(client, OF_REPAIRS, [keys])
    if (kind === null) await client.query(HOLD, [keys])
    await noteNow(client, keys, LANE.repair)
    await noteLookup(client, toLookUp, LANE.repair)
  },
}

const DISCARD: Action = {
  name: 'discard',
  where: () => `l.state = 'held' AND o.due_at IS NULL`,
  async apply(client, decision, { keys, kind }) {
    await client.query(TAKE_BACK, [keys, kind])
    await client.query(DECIDE, [decision, keys, true, kind])
    await client.query(LEAVE, [keys, kind])
    await noteNow(client, await keysBy(client, STILL_RELEASED, [keys]), LANE.repair)
  },
}

/** The record does not keep the findings of a check: the claim that repairs them makes its own lookup. */
const OF_REPAIRS = `SELECT key FROM rollcall.ledger WHERE key = ANY($1) AND (reason->'kinds' ? 'repair' OR discard->'kinds' ? 'repair')`

/** With those that a person has discarded before. */
const KINDS = `(SELECT coalesce(jsonb_agg(DISTINCT kind), '[]')
  FROM jsonb_array_elements(coalesce(l.reason->'kinds', '[]') || coalesce(${DISCARDED_NOW}->'kinds', '[]')) AS k (kind))`
/** A decision by key is about these. A change of a held customer that was discarded before stays discarded. */
const ASKED_KINDS = `CASE WHEN l.state = 'held' THEN l.reason->'kinds' ELSE ${KINDS} END`
/** They name the fields of a repair. */
const FIELDS = `nullif(coalesce(CASE WHEN l.reason->>'code' = 'held' THEN l.reason->'fields' END, '[]') || coalesce(${DISCARDED_NOW}->'fields', '[]'), '[]')`
const TOGETHER = `jsonb_strip_nulls(jsonb_build_object('code', 'held', 'kinds', ${KINDS}, 'fields', ${FIELDS}))`

/** It stays held for the kinds that nobody has decided on. */
const LEAVE = `
UPDATE rollcall.ledger l SET since = clock_timestamp(),
  state = CASE WHEN left_kinds = '[]' THEN 'discarded' ELSE 'held' END,
  reason = CASE WHEN left_kinds = '[]' THEN ${TOGETHER} ELSE l.reason || jsonb_build_object('kinds', left_kinds) END,
  discard = ${TOGETHER} - 'code' || jsonb_build_object('desired', l.desired,
    'kinds', ${KINDS} - ARRAY(SELECT jsonb_array_elements_text(left_kinds)))
FROM (SELECT k.key, CASE WHEN $2::text IS NULL THEN '[]' ELSE (k.reason->'kinds') - $2 END AS left_kinds
  FROM rollcall.ledger k WHERE k.key = ANY($1)) undecided
WHERE l.key = undecided.key`

const DECIDE = `
INSERT INTO rollcall.decided (decision, key, desired, kinds, spent_at)
SELECT $1, l.key, l.desired,
  CASE WHEN $4::text IS NULL THEN ${ASKED_KINDS} ELSE jsonb_build_array($4::text) END,
  CASE WHEN $3 THEN clock_timestamp() END
FROM rollcall.ledger l WHERE l.key = ANY($2) ORDER BY l.key`

/** A release for other kinds stays open, and a claim carries it out. */
const TAKE_BACK = `
UPDATE rollcall.decided SET kinds = coalesce(kinds - $2::text, '[]'),
  spent_at = CASE WHEN coalesce(kinds - $2::text, '[]') = '[]' THEN clock_timestamp() END
WHERE key = ANY($1) AND spent_at IS NULL`
const STILL_RELEASED = 'SELECT DISTINCT key FROM rollcall.decided WHERE key = ANY($1) AND spent_at IS NULL'

/** By key also what was discarded can be released. */
const HOLD = `
UPDATE rollcall.ledger l SET state = 'held', since = clock_timestamp(), reason = ${TOGETHER}, discard = NULL
WHERE key = ANY($1) AND discard IS NOT NULL AND state <> 'held'`

/** A person waits for it, and these rows are never held for long. */
const LOCK_TIMEOUT_MS = 10_000

const CONCERNED = (where: string) => `
SELECT l.key, ${ASKED_KINDS} AS kinds
FROM rollcall.ledger l JOIN rollcall.owed o USING (key)
WHERE l.key = ANY($1) AND ($2::text IS NULL OR l.reason->'kinds' ? $2) AND ${where} ORDER BY l.key`

const WRITE =
  'INSERT INTO rollcall.decision (action, kind, by, why) VALUES ($1, $2, $3, $4) RETURNING id::text'

async function carryOut(pool: Pool, choice: HeldSelection & DecidedBy, action: Action) {
  const kind = 'kind' in choice ? choice.kind : null
  const kinds = new Set<HeldKind>(kind === null ? [] : [kind])
  let decision: string | null = null
  let customers = 0

  const write = async (client: ClientBase): Promise<string> => {
    const values = [action.name, kind, choice.by, choice.why]
    return (await oneRow<{ id: string }>(client, WRITE, values)).id
  }

  const decidePage = async (client: ClientBase, page: readonly CustomerKey[]) => {
    await client.query(LOCK_OWED, [page])
    const { rows } = await client.query<{ key: CustomerKey; kinds: readonly HeldKind[] }>(
      CONCERNED(action.where(kind)),
      [page, kind],
    )
    if (rows.length === 0) return { id: decision, rows }
    const id = decision ?? (await write(client))
    const count = 'UPDATE rollcall.decision SET customers = customers + $2 WHERE id = $1'
    await client.query(count, [id, rows.length])
    await action.apply(client, id, { keys: rows.map(({ key }) => key), kind })
    return { id, rows }
  }

  for await (const page of pagesOf(pool, choice)) {
    const { id, rows } = await retried(() =>
      inTransaction(pool, LOCK_TIMEOUT_MS, (client) => decidePage(client, page)),
    )
    decision = id
    customers += rows.length
    for (const each of rows.flatMap((row) => row.kinds)) kinds.add(each)
  }
  const { reset, decision: written } = await resetKinds(pool, [...kinds], async (client) =>
    // No customer was held, and yet a person has checked, and decided that it goes on.
    kind === null ? null : (decision ?? (await write(client))),
  )
  const left = await countLeft(pool, choice, action.name)
  return { decision: decision ?? written, customers, left, reset }
}

const PAGE = 1000

/** Keys in pages, in order: those who are meant, or for a kind those who are held for it. */
async function* pagesOf(pool: Pool, choice: HeldSelection): AsyncGenerator<readonly CustomerKey[]> {
  if ('keys' in choice) {
    const keys = [...new Set(choice.keys)].sort()
    for (let from = 0; from < keys.length; from += PAGE) yield keys.slice(from, from + PAGE)
    return
  }
  for (let after: CustomerKey | null = null; ; ) {
    const page: { rows: { key: CustomerKey; meant: boolean }[] } = await pool.query(PAGE_OF_HELD, [
      choice.kind,
      after,
    ])
    const meant = page.rows.filter((row) => row.meant).map(({ key }) => key)
    if (meant.length > 0) yield meant
    if (page.rows.length < PAGE) return
    after = page.rows.at(-1)?.key ?? null
  }
}

/** Reads all kinds: the planner cannot know how rare one is, and would sort all held customers for every page. */
const PAGE_OF_HELD = `
WITH page AS MATERIALIZED (
  SELECT l.key, l.reason FROM rollcall.ledger l
  WHERE l.state = 'held' AND ($2::text IS NULL OR l.key > $2) ORDER BY l.key LIMIT ${PAGE})
SELECT key, coalesce(reason->'kinds' ? $1, false) AS meant FROM page ORDER BY key`

const LEFT = `
SELECT count(*)::int AS left FROM rollcall.ledger l
WHERE (l.state = 'held' OR ($3 AND ${IS_DISCARDED})) AND ($1::text IS NULL OR l.reason->'kinds' ? $1)
  AND ($2::text[] IS NULL OR l.key = ANY($2))
  AND NOT CASE WHEN $1::text IS NULL THEN ${OPEN_RELEASE} ELSE ${releasedFor('$1')} END`

async function countLeft(pool: Pool, choice: HeldSelection, action: Action['name']): Promise<number> {
  const [kind, keys] = 'keys' in choice ? [null, choice.keys] : [choice.kind, null]
  const values = [kind, keys, action === 'release' && kind === null]
  return (await oneRow<{ left: number }>(pool, LEFT, values)).left
}

/** In a statement of its own after the lock, so that it sees who was counted meanwhile. */
const LOCK_KIND = 'SELECT kind FROM rollcall.brake WHERE kind = $1 AND tripped_at IS NOT NULL FOR UPDATE'
const WAITING = `
SELECT EXISTS (
  SELECT FROM rollcall.ledger l WHERE l.state = 'held' AND l.reason->'kinds' ? $1 AND NOT ${releasedFor('$1')}) AS waits`
const RESET =
  'UPDATE rollcall.brake SET tripped_at = NULL, tripped_at_limit = NULL, taken = 0, expected = 0 WHERE kind = $1'
/** A user that the service did not know then may be there all the same: it is asked again once a person has looked. */
const LET_THROUGH = 'SELECT key FROM rollcall.brake_entry WHERE kind = $1 AND NOT forgotten'
const FORGET = 'UPDATE rollcall.brake_entry SET forgotten = true WHERE kind = $1'

/**
 * A person has checked all customers held for these kinds: the kinds let new customers through again, and
 * counting begins anew; customers that were expected and have not come are expected no more. A kind for which a customer waits
 * still stays tripped. `record` writes the decision, in the transaction of the first kind, where none has been written
 * yet.
 */
async function resetKinds(
  pool: Pool,
  kinds: readonly HeldKind[],
  record: (client: ClientBase) => Promise<string | null>,
): Promise<{ readonly reset: readonly BrakeKind[]; readonly decision: string | null }> {
  const reset: BrakeKind[] = []
  let decision: string | null = null
  for (const kind of kinds.filter((each): each is BrakeKind => each !== 'truncated').sort()) {
    await inTransaction(pool, LOCK_TIMEOUT_MS, async (client) => {
      const { rowCount } = await client.query(LOCK_KIND, [kind])
      if (rowCount === 0) return
      if ((await oneRow<{ waits: boolean }>(client, WAITING, [kind])).waits) return
      if (kind === 'absence') await verifyNow(client, await keysBy(client, LET_THROUGH, [kind]))
      await client.query(RESET, [kind])
      await client.query(FORGET, [kind])
      decision ??= await record(client)
      reset.push(kind)
    })
  }
  return { reset, decision }
}
