// Stores what looks have shown: in one transaction, and only of those for whom nothing has moved since they were read.
import type { ClientBase, Pool } from 'pg'
import { inTransaction } from '../brake/transaction.ts'
import { CURRENT_FINGERPRINT, HOLD_GENERATION } from '../ledger/generation.ts'
import { noteToLook } from '../ledger/note.ts'
import type { CustomerKey } from '../model/customer.ts'
import { userIdOf } from '../model/mapped.ts'
import type { Subject } from './compare.ts'
import { isFound, type Looked, type Open, type Step, stepFor } from './findings.ts'
import { countVerified } from './halt.ts'
import { type Lag, MOST_REPAIRS, nextLookMs, postponedMs, secondLookMs } from './looks.ts'
import { type Learning, type Recorded, recordOf, writeRecords } from './record.ts'
import { type Change, type Insertion, lockOpen, type Resolution, writeFindings } from './rows.ts'
import { AGREED, DRIFTED } from './share.ts'
import type { Resolved } from './words.ts'

/** A customer after its look. `subject` as it was read before the look. */
export type Given = { readonly subject: Subject; readonly looked: Looked } & Learning

export type Stored = {
  /** A change came while the GET was under way: what it showed says nothing. */
  readonly moved: boolean
  readonly standing: 'suspected' | 'found' | null
  readonly findingId: string | null
  readonly resolved: Resolved | null
  readonly nextInMs: number | null
  readonly repairing: boolean
}

export type StoreOptions = Lag & {
  readonly fingerprint: string
  readonly repair: boolean
  readonly maxShare: number
}

/** A sync that is under way holds its row for a moment only. */
const LOCK_MS = 2000

/**
 * The guard of the protocol: the same version, nothing owed and no token, with the row locked; and syncs still go by
 * the mapping that the customers were compared by. Of a customer without a work row there is nothing to lock.
 */
const STILL = `
WITH ${HOLD_GENERATION},
asked AS MATERIALIZED (SELECT * FROM unnest($1::text[], $2::bigint[]) AS a (key, version)),
locked AS MATERIALIZED (
  SELECT o.key, o.change_version, o.token IS NULL AND o.due_at IS NULL AND NOT o.unknown AS quiet
  FROM rollcall.owed o WHERE o.key = ANY($1) ORDER BY o.key FOR UPDATE OF o)
SELECT a.key FROM asked a LEFT JOIN locked l ON l.key = a.key COLLATE "C"
WHERE ${CURRENT_FINGERPRINT} = $3
  AND CASE WHEN a.version IS NULL THEN l.key IS NULL ELSE l.quiet AND l.change_version = a.version END`

export async function storeLooks(
  pool: Pool,
  given: readonly Given[],
  options: StoreOptions,
): Promise<readonly Stored[]> {
  return await inTransaction(pool, LOCK_MS, async (client) => {
    const still = await stillAsRead(client, given, options.fingerprint)
    const opens = await lockOpen(
      client,
      given.map(({ subject }) => subject.key),
    )
    const steps = given.map(({ subject, looked }) => {
      const open = opens.get(subject.key) ?? null
      const moved = looked.kind === 'seen' && !still.has(subject.key)
      return { open, moved, step: stepFor(open, moved ? { kind: 'left', why: 'moved' } : looked) }
    })
    const letters = steps.map(({ step, moved }, at) => letterOf(step, moved ? undefined : given[at]?.looked))
    const repairable = steps.some(({ open, step }) => open !== null && mayRepair(open, step))
    const share =
      letters.some(Boolean) || (options.repair && repairable)
        ? await countVerified(client, letters.join(''), options.maxShare)
        : null
    const decided = given.map((each, at) => {
      const { open, moved, step } = steps[at] ?? NONE
      const may = open !== null && mayRepair(open, step)
      const held = share?.over === true && BigInt(open?.id ?? 0) > share.releasedTo
      return decide(
        { ...each, open, moved, step, repair: options.repair && may && !held, waits: may && held },
        options,
      )
    })
    const made = await writeFindings(client, {
      forget: decided.flatMap(({ forget }) => forget ?? []),
      postpone: decided.flatMap(({ postpone }) => postpone ?? []),
      postponeMs: postponedMs(options),
      resolve: decided.flatMap(({ resolve }) => resolve ?? []),
      change: decided.flatMap(({ change }) => change ?? []),
      insert: decided.flatMap(({ insert }) => insert ?? []),
    })
    await writeRecords(
      client,
      decided.flatMap(({ record }) => record ?? []),
    )
    const repairs = decided.flatMap(({ stored }, at) =>
      stored.repairing ? (given[at]?.subject.key ?? []) : [],
    )
    await noteToLook(client, repairs)
    return decided.map(({ stored, insert }) =>
      insert ? { ...stored, findingId: made.get(insert.key) ?? null } : stored,
    )
  })
}

const NONE = { open: null, moved: false, step: { do: 'nothing' } as Step }

async function stillAsRead(
  client: Pick<ClientBase, 'query'>,
  given: readonly Given[],
  fingerprint: string,
): Promise<ReadonlySet<CustomerKey>> {
  const seen = given.filter(({ looked }) => looked.kind === 'seen').map(({ subject }) => subject)
  if (seen.length === 0) return new Set()
  const { rows } = await client.query<{ key: CustomerKey }>(STILL, [
    seen.map(({ key }) => key),
    seen.map(({ work }) => work.version),
    fingerprint,
  ])
  return new Set(rows.map(({ key }) => key))
}

/** Each customer counts once: as agreeing, or when its difference is confirmed. */
function letterOf(step: Step, looked: Looked | undefined): string {
  if (looked?.kind !== 'seen') return ''
  if (step.do === 'confirm') return step.told.kind === 'trial-ended' ? AGREED : DRIFTED
  const normal = step.do === 'resolve' && step.how === 'normalised'
  return looked.compared.kind === 'agrees' || normal ? AGREED : ''
}

/** A trial that ended is the service's own doing, and of what cannot be read nobody knows what would mend it. */
function mayRepair(open: Open, step: Step): boolean {
  if (step.do !== 'confirm' && step.do !== 'keep') return false
  const { kind } = step.told
  return kind !== 'trial-ended' && kind !== 'unreadable' && open.repairs < MOST_REPAIRS
}

type Deciding = Given & {
  readonly open: Open | null
  readonly moved: boolean
  readonly step: Step
  readonly repair: boolean
  readonly waits: boolean
}

type Decided = {
  readonly stored: Stored
  readonly forget?: string
  readonly postpone?: string
  readonly resolve?: Resolution
  readonly change?: Change
  readonly insert?: Insertion
  readonly record?: Recorded
}

const LEFT: Stored = {
  moved: false,
  standing: null,
  findingId: null,
  resolved: null,
  nextInMs: null,
  repairing: false,
}

function decide({ subject, looked, sight, open, moved, step, repair, waits }: Deciding, lag: Lag): Decided {
  const left: Stored = { ...LEFT, moved, findingId: open?.id ?? null }
  const seen = looked.kind === 'seen' && !moved
  const told = { key: subject.key, userId: userIdOf(subject.mapped), desired: subject.desired }
  switch (step.do) {
    case 'nothing':
      return seen ? { stored: left, record: recordOf({ subject, sight, agrees: true }) } : { stored: left }
    case 'forget': {
      const stored = { ...left, findingId: null }
      const forget = open?.id ?? ''
      return seen
        ? { stored, forget, record: recordOf({ subject, sight, agrees: true }) }
        : { stored, forget }
    }
    case 'wait':
      return {
        stored: { ...left, standing: open ? standingOf(open) : null, nextInMs: open?.nextInMs ?? null },
      }
    case 'postpone':
      return {
        stored: { ...left, standing: open ? standingOf(open) : null, nextInMs: postponedMs(lag) },
        postpone: open?.id ?? '',
      }
    case 'suspect': {
      const nextInMs = secondLookMs(lag)
      const record = recordOf({ subject, sight: null, agrees: false })
      const stored: Stored = { ...left, standing: 'suspected', nextInMs, resolved: step.ends }
      const insert = { ...told, ...step.told, nextInMs }
      if (!open) return { stored, insert, record }
      if (step.ends) return { stored, insert, record, resolve: { id: open.id, how: step.ends } }
      const change = { ...insert, id: open.id, looks: 1, anew: true, repaired: false }
      return { stored, change, record }
    }
    case 'confirm':
    case 'keep': {
      const { repairs, looks, id } = open ?? { repairs: 0, looks: 1, id: '' }
      const pending = step.told.pending.length > 0
      const nextInMs = nextLookMs({ repaired: repair, repairs, waits, pending }, lag)
      const change = { ...told, ...step.told, id, looks: looks + 1, anew: false, repaired: repair, nextInMs }
      const record = recordOf({ subject, sight, agrees: false, learnt: step.learnt })
      return { stored: { ...left, standing: 'found', nextInMs, repairing: repair }, change, record }
    }
    case 'resolve': {
      const resolve = { id: open?.id ?? '', how: step.how }
      const stored = { ...left, resolved: step.how }
      if (!seen) return { stored, resolve }
      return { stored, resolve, record: recordOf({ subject, sight, agrees: true, learnt: step.learnt }) }
    }
    default:
      return step satisfies never
  }
}

function standingOf(open: Open): 'suspected' | 'found' {
  return isFound(open) ? 'found' : 'suspected'
}
