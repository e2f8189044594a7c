// Stores what looks have shown: in one transaction, and only of those for whom nothing has moved since they were read.
import type { ClientBase, Pool } from 'pg'
import { inTransaction } from '../brake/transaction.ts'
import { retried, UNIQUE_VIOLATION } from '../ledger/batch.ts'
import { type Check, endChecks } from '../ledger/check.ts'
import type { CustomerKey } from '../model/customer.ts'
import { userIdOf } from '../model/mapped.ts'
import type { Snapshot } from '../sync/snapshot.ts'
import type { Sight } from './compare.ts'
import { isDoubted, isStrange, readEvidence, SAMPLED } from './evidence.ts'
import {
  type CheckResult,
  type FindingStep,
  isFound,
  type Lag,
  MOST_REPAIRS,
  postponedMs,
  type StoredFinding,
  secondLookMs,
  stepFor,
} from './findings.ts'
import { recordOf, writeRecords } from './record.ts'
import { type DriftVerdict, isRepairable, type Resolved } from './words.ts'

/** A customer after its look. `subject` as it was read before the look. */
export type CheckedCustomer = {
  readonly subject: Snapshot
  readonly looked: CheckResult
  /** Null: the GET showed nothing. */
  readonly sight: Sight | null
  /** Of the check; null: it has none. */
  readonly token: string | null
}

export type Stored = {
  /** A change came while the GET was under way: what it showed says nothing. */
  readonly moved: boolean
  readonly standing: 'suspected' | 'found' | null
  readonly findingId: string | null
  readonly resolved: Resolved | null
  readonly nextInMs: number | null
  /** Fields besides have been shown by this look alone. */
  readonly more: boolean
  /** A repair would mend it, and was not owed too often. */
  readonly mend: boolean
  /**
   * Of the finding that goes on, what is kept of it: fields that were shown twice, and the cause of the first look, since
   * afterwards the records hold what that showed and tell another one. Null: there is none, or no look.
   */
  readonly told: DriftVerdict | null
}

const NOTHING: Stored = {
  ...{ moved: false, standing: null, findingId: null, resolved: null, nextInMs: null },
  ...{ more: false, mend: false, told: null },
}

type StoreOptions = Lag & {
  readonly fingerprint: string
  /** Workers mend what is found, and have to look for it. */
  readonly mendsLater: boolean
}

/** A sync that is under way holds its row for a moment only. */
const LOCK_MS = 2000
const LOCK_NOT_AVAILABLE = '55P03'

/** Where others are at the same customers, or hold their rows for too long, nothing is said of any of them. */
export async function storeLooks(
  pool: Pool,
  given: readonly CheckedCustomer[],
  options: StoreOptions,
): Promise<readonly Stored[]> {
  try {
    return await retried(() => inTransaction(pool, LOCK_MS, (client) => store(client, given, options)))
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null
    if (code !== LOCK_NOT_AVAILABLE && code !== UNIQUE_VIOLATION) throw error
    return given.map(({ looked }) => ({ ...NOTHING, moved: looked.kind === 'seen' }))
  }
}

/** With the step that its look leads to, from what was open for it. */
type Stepped = CheckedCustomer & {
  readonly open: OpenFinding | null
  readonly moved: boolean
  readonly step: FindingStep
}

async function store(
  client: ClientBase,
  given: readonly CheckedCustomer[],
  options: StoreOptions,
): Promise<readonly Stored[]> {
  const still = await endChecks(client, given.flatMap(checkOf), options.fingerprint)
  const opens = await lockOpen(
    client,
    given.map(({ subject }) => subject.key),
  )
  const stepped = given.map((each): Stepped => {
    const { looked, subject } = each
    const open = opens.get(subject.key) ?? null
    const moved = looked.kind === 'seen' && !still.has(subject.key)
    return {
      ...each,
      open,
      moved,
      step: stepFor(open, moved ? { kind: 'left', why: 'moved' } : looked, options),
    }
  })
  await writeRecords(
    client,
    stepped.filter(({ looked, moved }) => looked.kind === 'seen' && !moved).map(recordOf),
  )
  const evidence = stepped.some(isConfirmedStrange) ? await readEvidence(client) : null
  const believed = evidence !== null && !isDoubted(evidence)
  const left = stepped.map((each) => {
    const doubted = isConfirmedStrange(each) && !(believed && each.open?.sampled)
    return leave(doubted ? { ...each, step: DOUBTED } : each, options)
  })
  const gone = left.flatMap(({ forget }) => forget ?? [])
  if (gone.length > 0) await client.query(FORGET, [gone])
  await writeFindings(
    client,
    left.flatMap(({ change }) => change ?? []),
  )
  const made = await insertFindings(
    client,
    left.flatMap(({ insert }) => insert ?? []),
  )
  return left.map(({ stored, insert }) =>
    insert ? { ...stored, findingId: made.get(insert.key) ?? null } : stored,
  )
}

function checkOf({ subject: { key }, token }: CheckedCustomer): readonly Check[] {
  return token === null ? [] : [{ key, token }]
}

/** It stays a suspicion, and is looked at again before long. */
const DOUBTED: FindingStep = { do: 'doubt' }

function isConfirmedStrange({ step }: Stepped): boolean {
  return (step.do === 'confirm' || step.do === 'keep') && isStrange(step.told)
}

/** For workers; a run asks again a moment later. The service may say something else before long. */
const DOUBTED_MS = 600_000

/** The columns of a finding that a look may change. `how`: it ends. `anew`: something else is suspected than before. */
type Row = DriftVerdict & {
  readonly pending: StoredFinding['pending']
  readonly desired: string | null
  readonly looks: number
  readonly nextInMs: number | null
  readonly seen: boolean
  readonly anew: boolean
  readonly how: Resolved | null
}
type Leaving = {
  readonly stored: Stored
  readonly forget?: string
  readonly change?: Row & { readonly id: string }
  readonly insert?: Row & { readonly key: CustomerKey; readonly userId: string | null }
}

function leave({ subject, looked, open, moved, step }: Stepped, options: StoreOptions): Leaving {
  const { key, mapped, desired } = subject
  const stored: Stored = { ...NOTHING, moved, findingId: open?.id ?? null }
  const standing = open && (isFound(open) ? ('found' as const) : ('suspected' as const))
  const asIs = open && { ...open, seen: false, anew: false, how: null }
  const again = (nextInMs: number) => (asIs ? { change: { ...asIs, nextInMs } } : {})
  switch (step.do) {
    case 'nothing':
      return { stored }
    case 'forget':
      return { stored: { ...stored, findingId: null }, ...(open && { forget: open.id }) }
    case 'wait': {
      const kept = looked.kind === 'seen' && open && (isFound(open) || open.kind === looked.compared.kind)
      return {
        stored: {
          ...stored,
          standing,
          nextInMs: open?.nextInMs ?? null,
          told: kept ? verdictOf(open) : null,
        },
      }
    }
    case 'doubt':
      return { stored: { ...stored, standing: 'suspected' }, ...again(DOUBTED_MS) }
    case 'postpone': {
      const nextInMs = postponedMs(options)
      return { stored: { ...stored, standing, nextInMs }, ...again(nextInMs) }
    }
    case 'suspect': {
      const nextInMs = secondLookMs(options)
      const row = { ...step.told, desired, looks: 1, nextInMs, seen: true, anew: true, how: null }
      const suspected: Stored = { ...stored, standing: 'suspected', nextInMs, resolved: step.ends }
      if (open && !step.ends) return { stored: suspected, change: { ...row, id: open.id } }
      const ended = asIs && { change: { ...asIs, nextInMs: null, how: step.ends } }
      return { stored: suspected, ...ended, insert: { ...row, key, userId: userIdOf(mapped) } }
    }
    case 'confirm':
    case 'keep': {
      const { looks, id, repairs } = open ?? { looks: 1, id: '', repairs: 0 }
      const more = step.told.pending.length > 0
      const mend = isRepairable(step.told.kind) && repairs < MOST_REPAIRS
      const later = mend && options.mendsLater ? postponedMs(options) : null
      const nextInMs = more ? secondLookMs(options) : later
      const row = { ...step.told, desired, looks: looks + 1, nextInMs, seen: true, anew: false, how: null }
      const told = verdictOf(step.told)
      return { stored: { ...stored, standing: 'found', nextInMs, more, mend, told }, change: { ...row, id } }
    }
    case 'resolve':
      return {
        stored: { ...stored, resolved: step.how },
        ...(asIs && { change: { ...asIs, nextInMs: null, how: step.how } }),
      }
    default:
      return step satisfies never
  }
}

function verdictOf({ kind, fields, cause, access }: DriftVerdict): DriftVerdict {
  return { kind, fields, cause, access }
}

type Client = Pick<ClientBase, 'query'>

/** `sampled`: a sample was asked since it was last seen. */
type OpenFinding = StoredFinding & { readonly sampled: boolean }

const OPEN = `
SELECT f.key, f.id::text, f.kind, to_jsonb(f.fields) AS fields, to_jsonb(f.pending) AS pending, f.cause, f.access, f.looks, f.repairs, f.desired,
  (extract(epoch FROM f.next_look_at - now()) * 1000)::float8 AS "nextInMs",
  coalesce(l.acknowledged_at > f.repaired_at, false) AS "writtenSinceRepair",
  coalesce(l.acknowledged_at > f.last_seen, false) AS "writtenSinceSeen", ${SAMPLED} AS sampled
FROM rollcall.finding f LEFT JOIN rollcall.ledger l USING (key)
WHERE f.key = ANY($1) AND f.resolved_at IS NULL ORDER BY f.key FOR UPDATE OF f`

/** The findings that are open for these customers; locked in the order of their keys. */
async function lockOpen(
  client: Client,
  keys: readonly CustomerKey[],
): Promise<ReadonlyMap<CustomerKey, OpenFinding>> {
  const { rows } = await client.query<OpenFinding & { key: CustomerKey }>(OPEN, [keys])
  return new Map(rows.map(({ key, ...open }) => [key, open]))
}

const FORGET = 'DELETE FROM rollcall.finding WHERE id = ANY($1::bigint[])'

const COLUMNS = `kind text, fields text[], pending text[], cause text, access text, desired text, looks integer,
  "nextInMs" float8, seen boolean, anew boolean, how text`
const NEXT = `now() + e."nextInMs" * interval '1 ms'`

const CHANGE = `
UPDATE rollcall.finding f SET kind = e.kind, fields = e.fields, access = e.access, desired = e.desired, looks = e.looks,
  pending = CASE WHEN e.how IS NULL THEN e.pending ELSE '{}' END,
  cause = CASE e.how WHEN 'normalised' THEN 'normalised' ELSE e.cause END,
  last_seen = CASE WHEN e.seen THEN now() ELSE f.last_seen END,
  first_seen = CASE WHEN e.anew THEN now() ELSE f.first_seen END,
  next_look_at = ${NEXT}, resolved_how = e.how, resolved_at = CASE WHEN e.how IS NOT NULL THEN now() END
FROM jsonb_to_recordset($1::jsonb) AS e (id bigint, ${COLUMNS})
WHERE f.id = e.id`

/** What is resolved goes first: of the same customer something else may be suspected now. */
async function writeFindings(client: Client, rows: readonly NonNullable<Leaving['change']>[]): Promise<void> {
  if (rows.length > 0) await client.query(CHANGE, [JSON.stringify(rows)])
}

/** One that comes back after a repair goes on where that ended: the service may not take it. */
const REPAIRS = `(SELECT CASE WHEN p.resolved_how = 'repaired' AND p.kind = e.kind AND p.fields = e.fields THEN p.repairs END
  FROM rollcall.finding p WHERE p.key = e.key COLLATE "C" ORDER BY p.id DESC LIMIT 1)`

const INSERT = `
INSERT INTO rollcall.finding (key, user_id, kind, fields, pending, cause, access, desired, next_look_at, repairs)
SELECT e.key, e."userId", e.kind, e.fields, e.pending, e.cause, e.access, e.desired, ${NEXT}, coalesce(${REPAIRS}, 0)
FROM jsonb_to_recordset($1::jsonb) AS e (key text, "userId" text, ${COLUMNS})
ORDER BY e.key COLLATE "C"
RETURNING id::text, key`

async function insertFindings(
  client: Client,
  rows: readonly NonNullable<Leaving['insert']>[],
): Promise<ReadonlyMap<CustomerKey, string>> {
  if (rows.length === 0) return new Map()
  const made = await client.query<{ id: string; key: CustomerKey }>(INSERT, [JSON.stringify(rows)])
  return new Map(made.rows.map(({ id, key }) => [key, id]))
}
