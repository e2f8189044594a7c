// One customer over time, without a server: changes, notifications, claims, late requests and crashes on a virtual
// clock. It keeps owed customers as the statements of src/ledger keep them.
import type { Config, Row } from '../../src/config/config.ts'
import { timeNeededMs } from '../../src/config/config.ts'
import type { Ending } from '../../src/ledger/ending.ts'
import { VERIFICATIONS } from '../../src/ledger/lookups.ts'
import { type LedgerRecord, NO_RECORD } from '../../src/ledger/record.ts'
import type { DesiredUser } from '../../src/model/user.ts'
import { runClaim } from '../../src/sync/run.ts'
import { contextOf, KEY, makeCustomer, PLAIN_RUN } from '../support/pure-claims.ts'
import {
  type Call,
  type Fault,
  type Habits,
  Killed,
  makePureService,
  type Stored,
} from '../support/pure-service.ts'

/** A row that was committed so long after the one before, and after which delays its notifications come. */
export type Change = { readonly row: Row | null; readonly afterMs: number; readonly notes: readonly number[] }

export type Troubles = {
  readonly faults: readonly (Fault | null)[]
  /** How old what a GET shows is, for one GET after the other. */
  readonly lags: readonly number[]
  /** Where the process of a claim dies, for one claim after the other: at its beginning, or before its ending. */
  readonly deaths: readonly ('first' | 'last' | null)[]
}

export const NO_TROUBLES: Troubles = { faults: [], lags: [], deaths: [] }

type Given = {
  readonly config: Config
  readonly its: Habits
  /** The user at the service before the first change. */
  readonly there: Stored | null
  readonly changes: readonly Change[]
  readonly troubles: Troubles
  /** How long after its claim began a request arrives at the latest. Default: its lifetime, so that the lookup sees it. */
  readonly latestMs?: number
}

export type Rest = {
  readonly user: Stored | null
  readonly desired: DesiredUser | null
  readonly state: string
  readonly refused: readonly string[]
  readonly record: LedgerRecord
  readonly calls: readonly Call[]
  readonly log: readonly string[]
}

const CALL_MS = 150
const MOST_CLAIMS = 200
const VERIFY_FIRST_MS = 60_000
const VERIFY_AFTER_MS = [600_000, VERIFY_FIRST_MS]

/** Plays everything, a last lookup included, until nothing is owed any more. */
export async function play({ config, its, there, changes, troubles, ...rest }: Given): Promise<Rest> {
  const { lifetimeMs, gapMs } = config.timing
  const { latestMs = lifetimeMs } = rest
  const needed = timeNeededMs(config)
  const events: { readonly at: number; readonly what: () => void }[] = []
  const deaths = [...troubles.deaths]
  const log: string[] = []
  let now = 0
  let out = false
  let claimEnds = 0
  let desired: DesiredUser | null = null
  const owed = {
    due: null as number | null,
    notBefore: 0,
    suspect: 0,
    synced: 0,
    left: 0,
    verifyAt: null as number | null,
    replanAt: null as number | null,
  }
  let writtenAt: number | null = null

  const at = (time: number, what: () => void) => {
    events.push({ at: time, what })
    events.sort((a, b) => a.at - b.at)
  }
  const pass = (to: number) => {
    for (let next = events[0]; next && next.at <= to; next = events[0]) {
      events.shift()
      now = Math.max(now, next.at)
      next.what()
    }
    now = Math.max(now, to)
  }
  const service = makePureService(its, {
    now: () => now,
    pass: (how) => pass(now + (how === 'call' ? CALL_MS : config.service.timeoutMs)),
    at: (time, what) => at(Math.min(time, claimEnds - lifetimeMs + latestMs), what),
  })
  if (there) service.users.set(KEY, there)
  service.faults.push(...troubles.faults)
  service.lags.push(...troubles.lags)
  const customer = makeCustomer({ service, config })
  const { kept } = customer

  const note = () => {
    kept.version++
    if (!out) owed.due = Math.min(owed.due ?? Number.POSITIVE_INFINITY, Math.max(now, owed.notBefore))
  }
  const verify = (time: number | null) => {
    owed.verifyAt = time
    if (time === null) return
    at(time, () => {
      if (owed.verifyAt !== time) return
      owed.verifyAt = null
      owed.left--
      kept.version++
      owed.suspect = kept.version
      kept.unknown = true
      owed.due ??= Math.max(now, owed.notBefore)
    })
  }

  /** Noted once that has passed and no claim is out. */
  const replan = (time: number | null) => {
    owed.replanAt = time
    if (time === null) return
    at(time, () => {
      if (owed.replanAt !== time || out) return
      owed.replanAt = null
      note()
    })
  }

  let time = 0
  for (const { row, afterMs, notes } of changes) {
    time += afterMs
    at(time, () => {
      customer.row = row
    })
    for (const delay of notes) at(time + delay, note)
  }
  at(time, note)

  async function claim(): Promise<void> {
    const started = now
    const { version, record, ...known } = kept
    const death = deaths.shift() ?? null
    claimEnds = started + lifetimeMs
    owed.due = claimEnds + config.timing.consistencyDelayMs
    out = true
    if (death === 'first') return crash()
    const replanInMs = owed.replanAt === null ? null : owed.replanAt - now
    const claimed = { id: '1', token: '1', key: KEY, version: `${version}`, ...known, replanInMs, nowMs: now }
    const writtenAgoMs = writtenAt === null ? null : now - writtenAt
    const from = service.calls.length
    try {
      const { ending } = await runClaim(
        {
          ...contextOf(customer),
          readRecord: async () => ({ ...NO_RECORD, ...structuredClone(record), writtenAgoMs, isNew: false }),
        },
        {
          ...PLAIN_RUN,
          claim: { ...claimed, changedAtMs: null, generation: '1', mayHaveWritten: claimed.unknown },
          hasTime: () => lifetimeMs - (now - started) >= needed,
          observe: (step) => {
            if (step.step === 'mapped') desired = step.mapped.kind === 'user' ? step.mapped.user : null
          },
        },
      )
      log.push(`${started} ${saidOf(from)} ${ending.kind} ${JSON.stringify(ending.record.reason)}`)
      if (death === 'last') crash()
      else end(ending, version)
    } catch (error) {
      if (!(error instanceof Killed)) throw error
      log.push(`${started} ${saidOf(from)} killed`)
      crash()
    }
  }

  const saidOf = (from: number) =>
    service.calls
      .slice(from)
      .map(({ method, body, after }) => `${method} ${JSON.stringify(body)}->${after?.status}`)

  /** The process never reports the claim; a lease finds its mark when its lifetime has passed. */
  function crash(): void {
    pass(owed.due ?? claimEnds)
    out = false
    kept.unknown = true
    kept.hiddenUnknown = true
    owed.left = VERIFICATIONS
    verify(null)
  }

  /** As the statement in src/ledger/ending.ts. */
  function end(ending: Ending, version: number): void {
    const { kind, record, writes, claim } = ending
    const { failed, backoffMs, replanAtMs } = ending.next
    const { lateMs, statusKnown, unclear } = ending.lookups
    const sure = ending.lastAnswer !== null
    const settled = kind === 'settle'
    const suspect = owed.suspect > version
    const risen = kept.version > version
    const cleared = settled && sure && kept.unknown && !suspect && owed.left > 0 && owed.verifyAt === null
    if (settled) {
      kept.unknown = suspect || (kept.unknown && !sure)
      kept.hiddenUnknown &&= suspect || !sure
      kept.statusUnknown &&= suspect || !sure
    } else if (statusKnown && !suspect) kept.statusUnknown = false
    if (cleared) {
      verify(now + (VERIFY_AFTER_MS[owed.left - 1] ?? 0))
    } else if (settled && unclear && (owed.suspect < version || owed.synced < version - 1)) {
      owed.left = Math.max(owed.left, record.remote === 'absent' ? VERIFICATIONS : 1)
      verify(owed.verifyAt ?? now + VERIFY_FIRST_MS)
    }
    if (kind === 'unknown') kept.unknown = true
    if (kind === 'unknown' && !unclear) {
      owed.left = VERIFICATIONS
      verify(null)
    }
    out = false
    if (settled) owed.synced = version
    if (settled) owed.notBefore = Math.max(now + gapMs, suspect ? owed.notBefore : 0)
    if (kind === 'unknown') owed.notBefore = Math.max(unclear ? 0 : (owed.due ?? 0), now + lateMs)
    if (kind === 'unknown') owed.due = Math.max(owed.notBefore, risen ? 0 : now + backoffMs)
    else if (suspect) owed.due = Math.max(now + gapMs, owed.notBefore)
    else if (risen) owed.due = now + gapMs
    else owed.due = kind === 'retry' ? now + backoffMs : null
    kept.attempts = settled ? 0 : kept.attempts + (failed ? 1 : 0)
    kept.record = JSON.parse(JSON.stringify(record))
    if (writes === 'accepted') writtenAt = now
    const passed = owed.replanAt !== null && owed.replanAt > claim.nowMs && owed.replanAt <= now
    if (passed) replan(now)
    else if (settled || replanAtMs !== null) replan(replanAtMs)
  }

  for (let claims = 0; claims < MOST_CLAIMS; ) {
    const next = Math.min(events[0]?.at ?? Number.POSITIVE_INFINITY, owed.due ?? Number.POSITIVE_INFINITY)
    if (next === Number.POSITIVE_INFINITY) {
      const { record } = kept
      const { state, refused } = record
      const user = service.users.get(KEY) ?? null
      return { user, desired, state, refused: Object.keys(refused), record, calls: service.calls, log }
    }
    pass(next)
    if (owed.due === null || owed.due > now) continue
    claims++
    await claim()
  }
  throw new Error(`no rest after ${MOST_CLAIMS} claims:\n${log.join('\n')}`)
}
