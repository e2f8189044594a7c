// Checks customers: claim, read, GET, compare, store. See "check" in docs/protocol.md.
import { claimLastsMs } from '../config/config.ts'
import { type CallEntry, readUncertain } from '../ledger/calls.ts'
import { claimChecks, endChecks } from '../ledger/check.ts'
import { findMapping } from '../ledger/generation.ts'
import { capturedOf } from '../ledger/sweep-work.ts'
import type { CustomerKey } from '../model/customer.ts'
import type { SyncContext } from '../sync/context.ts'
import type { Snapshot, SnapshotReading } from '../sync/snapshot.ts'
import { compare } from './compare.ts'
import { isSampleDue, makeSampling } from './evidence.ts'
import { type Candidate, type CheckAnswer, makeGetUsers, readCandidates } from './get-users.ts'
import { heldAccess } from './held-access.ts'
import { oweRepairs, type ToRepair } from './repair.ts'
import { type StoredCheck, storeChecks, type UnstoredCheck } from './store.ts'
import { type Checked, type CheckVerdict, isDrift, type Skipped, type Stopped } from './words.ts'

type CheckingOptions = Pick<SnapshotReading, 'pool' | 'readCustomers'> & {
  readonly context: SyncContext
  readonly log: (entry: CallEntry) => void
  /** Whether what is found is owed a repair, as far as the brake lets it. */
  readonly repair: boolean
}

/** `mapping`: another mapping is active. */
export type CheckedBatch = {
  readonly checked: readonly Checked[]
  readonly stopped: Stopped | 'mapping' | null
}

export type CheckCustomers = ReturnType<typeof makeChecking>['check']

type Answers = ReadonlyMap<CustomerKey, CheckAnswer>

type ClaimedChecks = {
  readonly tokens: ReadonlyMap<CustomerKey, string>
  readonly generation: string
}

/**
 * Checks customers once each, inside the common pace, and stores what that showed. Customers that cannot be checked now
 * are skipped, without a call. When it is stopped, the result lacks those that were not checked until then.
 */
export function makeChecking({ pool, readCustomers, context, log, repair }: CheckingOptions) {
  const { config, brake } = context
  const { fingerprint } = config
  const reading = { ...context, pool, readCustomers }
  const getUsers = makeGetUsers(context, log)
  const sample = makeSampling(reading, getUsers)
  return { check, sample }

  async function check(given: readonly CustomerKey[], signal: AbortSignal): Promise<CheckedBatch> {
    const keys = [...new Set(given)]
    // as a rule null
    const halted = (await isSampleDue(pool, keys)) ? await sample(signal) : null
    if (halted) return { checked: [], stopped: halted }
    const mapping = await findMapping(pool, fingerprint)
    if (!mapping?.current) return { checked: [], stopped: 'mapping' }
    const lasts = { lastsMs: claimLastsMs(config), fingerprint }
    const tokens = await claimChecks(pool, keys, lasts)
    try {
      return await carryOut(keys, { tokens, generation: mapping.generation }, signal)
    } finally {
      // Stored checks have ended. One that was not stored would keep other checks away until `check_until`.
      const left = [...tokens].map(([key, token]) => ({ key, token }))
      await endChecks(pool, left, fingerprint)
    }
  }

  async function carryOut(keys: readonly CustomerKey[], claimed: ClaimedChecks, signal: AbortSignal) {
    const { tokens } = claimed
    const read = await readCandidates(reading, keys)
    const toAsk = read.filter(({ snapshot, skip }) => skip === null && tokens.has(snapshot.key))
    const snapshots = toAsk.map(({ snapshot }) => snapshot)
    const { answers, stopped } = await getUsers(snapshots, signal)
    const compared = await compareAll(read, answers, claimed)
    const given = await withoutCaptured(compared)
    const repairsLater = config.reconcile.mode === 'repair'
    const stored = await storeChecks(pool, given, { ...config.timing, fingerprint, repairsLater })
    const owed = repair ? await owedRepairs(given, stored) : []
    const checked = stored.map((each) => ({ ...each, repairing: owed.includes(each.key) }))
    return { checked, stopped }
  }

  async function owedRepairs(given: readonly UnstoredCheck[], stored: readonly StoredCheck[]) {
    const found = given.flatMap(({ snapshot: { key, desiredDigest } }, at): ToRepair[] => {
      const { repairable = false, findingId: id = null, verdict } = stored[at] ?? {}
      if (!repairable || id === null || !verdict || !isDrift(verdict)) return []
      return [{ id, key, desiredDigest, fields: verdict.fields, access: verdict.access }]
    })
    return (await oweRepairs({ pool, brake, lag: config.timing }, found)).owed
  }

  /** The row's state may be captured and not noted yet. Agreement holds all the same; a difference does not. */
  async function withoutCaptured(checks: readonly UnstoredCheck[]): Promise<readonly UnstoredCheck[]> {
    const keys = checks.flatMap(({ snapshot, verdict }) => (isDrift(verdict) ? snapshot.key : []))
    const captured = await capturedOf(pool, keys)
    const owed = { verdict: { kind: 'skipped', why: 'owed' }, observed: null } as const
    return checks.map((each) => (captured.has(each.snapshot.key) ? { ...each, ...owed } : each))
  }

  async function compareAll(read: readonly Candidate[], answers: Answers, claimed: ClaimedChecks) {
    const { tokens, generation } = claimed
    const keys = [...answers].filter(([, answer]) => 'observed' in answer).map(([key]) => key)
    const unclear = await readUncertain(pool, keys)
    return read.flatMap(({ snapshot, skip }): UnstoredCheck[] => {
      const token = tokens.get(snapshot.key) ?? null
      const check = { snapshot, token, observed: null }
      const why = skip ?? (token === null ? 'changed' : null)
      if (why) return [{ ...check, verdict: skipped(why, snapshot) }]
      const answer = answers.get(snapshot.key)
      if (!answer) return []
      if ('none' in answer) return [{ ...check, verdict: { kind: 'no-answer', why: answer.none } }]
      const { observed } = answer
      const verdict = compare(snapshot, observed, { unclear: unclear.get(snapshot.key) ?? [], generation })
      return [{ ...check, observed, verdict }]
    })
  }
}

function skipped(why: Skipped, snapshot: Snapshot): CheckVerdict {
  return why === 'held' ? { kind: 'skipped', why, access: heldAccess(snapshot) } : { kind: 'skipped', why }
}
