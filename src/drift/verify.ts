// Verifies customers: read, look, compare, store. See docs/protocol.md, "Verification".
import { setImmediate } from 'node:timers/promises'
import type { CallEntry } from '../ledger/calls.ts'
import { readStanding } from '../ledger/generation.ts'
import type { CustomerKey } from '../model/customer.ts'
import { userIdOf } from '../model/mapped.ts'
import type { SyncContext } from '../sync/run.ts'
import { compare, heldAccess } from './compare.ts'
import type { Looked } from './findings.ts'
import { type Answer, makeLook } from './look.ts'
import { type Reading, type ReadSubject, readSubjects } from './read.ts'
import { seenOf, shownOf } from './shown.ts'
import { storeLooks } from './store.ts'
import { readUnclear } from './unclear.ts'
import { isDrift, type NoAnswer, type Skipped, type Verdict, type Verified } from './words.ts'
import type { Given, Stored } from './writes.ts'

export type VerifyOptions = Reading & {
  readonly context: Pick<SyncContext, 'users' | 'permits' | 'heard' | 'whenNoted'>
  /** Takes each call down. */
  readonly log: (entry: CallEntry) => void
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Whether what is found is repaired; and above which share of drift, between 0 and 1, it waits. */
  readonly repair: boolean
  /** Whether these looks count in that share: those of a run that repairs nothing neither cause a halt nor lift one. */
  readonly counts: boolean
  readonly maxShare: number
  /** The run or round that looks: what it finds is told where that can be believed; null: none that is judged. */
  readonly by: string | null
  /** Of workers: these are looked at once more, and not because their turn in a round has come. */
  readonly again?: boolean
  /** Looks at once; default as many as the configuration has calls at once. */
  readonly concurrency?: number
}

/** `asked`: the signal; `pace`: nobody may call now; `mapping`: syncs go by another one. */
export type Verification = {
  readonly verified: readonly Verified[]
  readonly stopped: 'asked' | 'pace' | 'mapping' | null
}

export type Verify = (keys: readonly CustomerKey[], signal: AbortSignal) => Promise<Verification>

/** More in one go would be read long before they are looked at, and held long by one transaction. */
export const MOST_AT_ONCE = 50

/**
 * Looks at customers once each, inside the common pace, and stores what that showed: as agreed, as a suspicion, as a
 * finding, or as the end of one. Those who cannot be verified now come back as skipped, without a call. When it is
 * stopped, who was not looked at is not among the verified. More than MOST_AT_ONCE are taken in batches.
 */
export function makeVerify(options: VerifyOptions): Verify {
  const look = makeLook(options)
  return async (keys, signal) => {
    const verified: Verified[] = []
    const distinct = [...new Set(keys)]
    for (let at = 0; at < distinct.length; at += MOST_AT_ONCE) {
      if (signal.aborted) return { verified, stopped: 'asked' }
      const batch = await verifyBatch(distinct.slice(at, at + MOST_AT_ONCE), { ...options, look, signal })
      verified.push(...batch.verified)
      if (batch.stopped) return { verified, stopped: batch.stopped }
      await setImmediate()
    }
    return { verified, stopped: null }
  }
}

type Batch = VerifyOptions & { readonly look: ReturnType<typeof makeLook>; readonly signal: AbortSignal }

async function verifyBatch(keys: readonly CustomerKey[], batch: Batch): Promise<Verification> {
  const { pool, config, context, signal } = batch
  const standing = await readStanding(pool, config.fingerprint)
  if (!standing?.current) return { verified: [], stopped: 'mapping' }
  const read = await readSubjects(batch, keys)
  const asked = read.filter(({ skip }) => skip === null)
  const { answers, stopped } = await batch.look(
    asked.map(({ subject }) => subject),
    signal,
  )
  const compared = await compareAll(read, answers, { ...batch, generation: standing.generation })
  // What a row has shown may be captured and not noted yet: then the version has still to rise.
  const suspect = compared.some(({ looked }) => looked.kind === 'seen' && looked.compared.kind !== 'agrees')
  const noted = !suspect || (await context.whenNoted())
  const given = noted ? compared : compared.map(unsaid)
  const stored = await storeLooks(pool, given, {
    ...config.timing,
    fingerprint: config.fingerprint,
    repair: batch.repair,
    counts: batch.counts,
    maxShare: batch.maxShare,
    by: batch.by,
    again: batch.again ?? false,
  })
  const verified = given.flatMap((each, at) => {
    const ended = stored[at]
    return ended ? [verifiedOf(each, ended)] : []
  })
  return { verified, stopped }
}

/** That all agrees holds whatever is on its way; a difference does not. */
function unsaid(judged: Judged): Judged {
  const { looked } = judged
  const said = looked.kind === 'seen' && looked.compared.kind !== 'agrees'
  return said ? { ...judged, looked: { kind: 'left', why: 'moved' }, none: null } : judged
}

type Left<Why> = { readonly kind: 'left'; readonly why: Why }
type Said = { readonly looked: Extract<Looked, { kind: 'seen' }> | Left<Skipped>; readonly none: null }
/** `none`: why there was no answer. */
type Unanswered = { readonly looked: Left<'no-answer'>; readonly none: NoAnswer }

type Judged = Omit<Given, 'looked'> & (Said | Unanswered)

async function compareAll(
  read: readonly ReadSubject[],
  answers: ReadonlyMap<CustomerKey, Answer>,
  { pool, generation }: Batch & { readonly generation: string },
): Promise<readonly Judged[]> {
  const keys = [...answers].filter(([, answer]) => 'sight' in answer).map(([key]) => key)
  const unclear = await readUnclear(pool, keys)
  return read.flatMap(({ subject, skip }): Judged[] => {
    if (skip) return [{ subject, looked: { kind: 'left', why: skip }, sight: null, none: null }]
    const answer = answers.get(subject.key)
    if (!answer) return []
    if ('none' in answer)
      return [{ subject, looked: { kind: 'left', why: 'no-answer' }, sight: null, none: answer.none }]
    const { sight } = answer
    const doubted = unclear.get(subject.key) ?? []
    const verdict = compare(subject, sight, { doubted, generation })
    const looked = {
      ...({ kind: 'seen', compared: verdict, desired: subject.desired } as const),
      seen: verdict.kind === 'differs' ? seenOf(subject, sight, verdict.fields) : {},
    }
    return [{ subject, looked, sight, none: null }]
  })
}

function verifiedOf(judged: Judged, stored: Stored): Verified {
  const { subject } = judged
  const verdict = verdictOf(judged, stored)
  const { standing, findingId, resolved, repairing, more, nextInMs } = stored
  return {
    key: subject.key,
    userId: userIdOf(subject.mapped),
    verdict,
    standing: isDrift(verdict) ? standing : null,
    ...{ findingId, resolved, repairing, more },
    lookAgainInMs: nextInMs,
    shown: judged.sight !== null && isDrift(verdict) ? shownOf(subject, judged.sight, verdict) : [],
  }
}

function verdictOf({ subject, looked, none }: Judged, { moved, resolved, told }: Stored): Verdict {
  if (moved) return { kind: 'skipped', why: 'moved' }
  if (looked.kind === 'seen') {
    const { compared } = looked
    if (resolved === 'normalised') return { kind: 'agrees' }
    return told !== null && compared.kind !== 'agrees' ? told : compared
  }
  if (none !== null) return { kind: 'no-answer', why: none }
  if (looked.why === 'held') return { kind: 'skipped', why: 'held', access: heldAccess(subject) }
  return { kind: 'skipped', why: looked.why }
}
