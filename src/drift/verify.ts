// Verifies customers: read, look, compare, store. See docs/protocol.md, "Verification".
import { setImmediate } from 'node:timers/promises'
import { readUnclear } from '../ledger/calls.ts'
import { claimChecks, endChecks } from '../ledger/check.ts'
import { readStanding } from '../ledger/generation.ts'
import { capturedOf } from '../ledger/sweep-work.ts'
import type { CustomerKey } from '../model/customer.ts'
import { userIdOf } from '../model/mapped.ts'
import type { SyncContext } from '../sync/context.ts'
import { claimLastsMs } from '../sync/time-needed.ts'
import { compare, heldAccess } from './compare.ts'
import { isSampleDue } from './evidence.ts'
import { type CheckAnswer, makeChecker } from './look.ts'
import { mend, type ToMend } from './mend.ts'
import { type ReadSubject, readSubjects } from './read.ts'
import { makeSampling, type SampleOptions } from './sample.ts'
import { ownFormsOf, shownOf } from './shown.ts'
import { type CheckedCustomer, type Stored, storeLooks } from './store.ts'
import { type CheckVerdict, isDrift, type Verified } from './words.ts'

type VerifyOptions = SampleOptions & {
  readonly context: Pick<SyncContext, 'brake'>
  /** Whether what is found is owed a repair, as far as the brake lets it. */
  readonly repair: boolean
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
  const look = makeChecker(options)
  const sample = makeSampling(options)
  return async (keys, signal) => {
    const verified: Verified[] = []
    const distinct = [...new Set(keys)]
    for (let at = 0; at < distinct.length; at += MOST_AT_ONCE) {
      if (signal.aborted) return { verified, stopped: 'asked' }
      const some = distinct.slice(at, at + MOST_AT_ONCE)
      const halted = (await isSampleDue(options.pool, some)) ? await sample(signal) : null
      if (halted) return { verified, stopped: halted }
      const batch = await verifyBatch(some, { ...options, look, signal })
      verified.push(...batch.verified)
      if (batch.stopped) return { verified, stopped: batch.stopped }
      await setImmediate()
    }
    return { verified, stopped: null }
  }
}

type Batch = VerifyOptions & { readonly look: ReturnType<typeof makeChecker>; readonly signal: AbortSignal }

async function verifyBatch(keys: readonly CustomerKey[], batch: Batch): Promise<Verification> {
  const { pool, config } = batch
  const standing = await readStanding(pool, config.fingerprint)
  if (!standing?.current) return { verified: [], stopped: 'mapping' }
  const lasts = { lastsMs: claimLastsMs(config), fingerprint: config.fingerprint }
  const checks = new Map(await claimChecks(pool, keys, lasts))
  try {
    return await carryOut(keys, { ...batch, checks, generation: standing.generation })
  } finally {
    // Left alone they would keep other checks away until they have passed.
    const left = [...checks].map(([key, token]) => ({ key, token }))
    await endChecks(pool, left, config.fingerprint)
  }
}

type Checking = Batch & {
  /** The tokens of those who may be looked at, by key; whose check has ended is not there any more. */
  readonly checks: Map<CustomerKey, string>
  readonly generation: string
}

async function carryOut(keys: readonly CustomerKey[], batch: Checking): Promise<Verification> {
  const { pool, config, signal, checks } = batch
  const read = await readSubjects({ ...batch, unwatched: batch.context.unwatched }, keys)
  const asked = read.filter(({ subject, skip }) => skip === null && checks.has(subject.key))
  const { answers, stopped } = await batch.look(
    asked.map(({ subject }) => subject),
    signal,
  )
  const compared = await compareAll(read, answers, batch)
  // What a row has shown may be captured and not noted yet: then the version has still to rise.
  const captured = await capturedOf(
    pool,
    compared.filter(differs).map(({ subject }) => subject.key),
  )
  const given = compared.map((each) => (captured.has(each.subject.key) ? unsaid(each) : each))
  const stored = await storeLooks(pool, given, {
    ...config.timing,
    fingerprint: config.fingerprint,
    mendsLater: !batch.repair && config.reconcile.mode === 'repair',
  })
  for (const { subject } of given) checks.delete(subject.key)
  const repairing = await mendThem(given, stored, batch)
  const verified = given.flatMap((each, at) => {
    const ended = stored[at]
    return ended ? [verifiedOf(each, ended, repairing)] : []
  })
  return { verified, stopped }
}

async function mendThem(
  given: readonly CheckedCustomer[],
  stored: readonly Stored[],
  { repair, pool, context, config }: Checking,
): Promise<ReadonlySet<CustomerKey>> {
  if (!repair) return new Set()
  const found = given.flatMap(({ subject: { key, desired, work } }, at): ToMend[] => {
    const { mend: wanted = false, findingId = null, told = null } = stored[at] ?? {}
    // Whoever was never synced is a backfill's.
    if (!work.known || !wanted || findingId === null || told === null) return []
    return [{ id: findingId, key, desired, fields: told.fields, access: told.access }]
  })
  const { owed } = await mend({ pool, brake: context.brake, lag: config.timing }, found)
  return new Set(owed)
}

/** That all agrees holds whatever is on its way; a difference does not. */
function differs({ looked }: CheckedCustomer): boolean {
  return looked.kind === 'seen' && looked.compared.kind !== 'agrees'
}

function unsaid(given: CheckedCustomer): CheckedCustomer {
  return { ...given, looked: { kind: 'left', why: 'owed' } }
}

async function compareAll(
  read: readonly ReadSubject[],
  answers: ReadonlyMap<CustomerKey, CheckAnswer>,
  { pool, generation, checks }: Checking,
): Promise<readonly CheckedCustomer[]> {
  const keys = [...answers].filter(([, answer]) => 'sight' in answer).map(([key]) => key)
  const unclear = await readUnclear(pool, keys)
  return read.flatMap(({ subject, skip }): CheckedCustomer[] => {
    const token = checks.get(subject.key) ?? null
    const unseen = { subject, token, sight: null }
    const why = skip ?? (token === null ? 'moved' : null)
    if (why) return [{ ...unseen, looked: { kind: 'left', why } }]
    const answer = answers.get(subject.key)
    if (!answer) return []
    if ('none' in answer) return [{ ...unseen, looked: { kind: 'no-answer', why: answer.none } }]
    const { sight } = answer
    const compared = compare(subject, sight, { doubted: unclear.get(subject.key) ?? [], generation })
    const ownForms = ownFormsOf(subject, sight)
    return [{ ...unseen, sight, looked: { kind: 'seen', compared, ownForms, desired: subject.desired } }]
  })
}

function verifiedOf(given: CheckedCustomer, stored: Stored, mended: ReadonlySet<CustomerKey>): Verified {
  const { subject, sight } = given
  const verdict = verdictOf(given, stored)
  const { standing, findingId, resolved, more, nextInMs } = stored
  return {
    key: subject.key,
    userId: userIdOf(subject.mapped),
    verdict,
    standing: isDrift(verdict) ? standing : null,
    ...{ findingId, resolved, more, repairing: mended.has(subject.key) },
    lookAgainInMs: nextInMs,
    shown: sight !== null && isDrift(verdict) ? shownOf(subject, sight, verdict) : [],
  }
}

function verdictOf({ subject, looked }: CheckedCustomer, { moved, told }: Stored): CheckVerdict {
  if (moved) return { kind: 'skipped', why: 'moved' }
  switch (looked.kind) {
    case 'seen':
      return told !== null && looked.compared.kind !== 'agrees' ? told : looked.compared
    case 'no-answer':
      return looked
    case 'left':
      if (looked.why === 'held') return { kind: 'skipped', why: 'held', access: heldAccess(subject) }
      return { kind: 'skipped', why: looked.why }
    default:
      return looked satisfies never
  }
}
