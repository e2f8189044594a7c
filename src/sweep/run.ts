// A sweep that owes: each page is noted before its end is stored, so that one that is killed goes on where it was and
// skips no customer.
import type { Pool } from 'pg'
import { endGap } from '../capture/marks.ts'
import { captureVersion, unfitTables } from '../capture/status.ts'
import type { Config } from '../config/config.ts'
import type { Condition } from '../customers/conditions.ts'
import { quotedName } from '../customers/problems.ts'
import { bindGeneration, type MappingStatus, mappingChanged, markSwept } from '../ledger/generation.ts'
import { type NewCustomer, recordNewCustomers } from '../ledger/note.ts'
import { noteGently, noteNow, noteUnknown } from '../ledger/note-unchanged.ts'
import {
  allAreBroughtIn,
  beginRun,
  dropRuns,
  endRun,
  findRun,
  isForAll,
  type Position,
  type RunOptions,
  type SweepKind,
  saveProgress,
  type WantedRun,
} from '../ledger/runs.ts'
import { type CustomerKey, LANE } from '../model/customer.ts'
import { RollcallError } from '../model/errors.ts'
import { userIdFor } from '../sync/map.ts'
import { makeFindMissed, type PageResult, type SweepOptions, type Swept, sweep } from './sweep.ts'
import {
  ALL_CUSTOMERS,
  howToNote,
  increased,
  NOTHING_FOUND,
  type SweepSelection,
  type SweepTally,
} from './verdict.ts'

/** The customers that a sweep is for, if not all. */
export type Restriction = {
  /** As it is recorded: a later sweep goes on with this one where it is the same. */
  readonly options: RunOptions
  readonly select: Partial<Pick<SweepSelection, 'only' | 'lookup'>>
  readonly conditions: readonly Condition[]
}

export type SweepingOptions = Pick<SweepOptions, 'pool' | 'config' | 'digester' | 'signal' | 'page'> & {
  readonly kind: SweepKind
  /** The gaps in capture that are closed at its end. */
  readonly marks?: readonly string[]
  readonly restriction?: Restriction
  /** An unfinished one is not gone on with. */
  readonly restart?: boolean
  /** Counts the customers for the progress that is shown; default: not counted. */
  readonly count?: () => Promise<number | null>
  /** Once it is known which sweep this is, and whether it goes on with an earlier one. */
  readonly onBegin?: (begun: BegunSweep) => Promise<void>
  /** Called with each page, which is behind once it has resolved. */
  readonly onProgress?: (page: PageResult) => Promise<void>
}

export type BegunSweep = {
  readonly id: string
  readonly resumed: boolean
  readonly total: number | null
  readonly tally: SweepTally
}

export type SweepEnd = Swept & {
  /** It ended early because another mapping was applied, or another sweep was begun in its place. */
  readonly superseded: boolean
  /** Some of those that this process has found to be missed by capture, so that a person can look for what wrote them. */
  readonly examples: readonly CustomerKey[]
}

const MOST_EXAMPLES = 20

/**
 * Plans all customers and owes a sync to those that differ, in the lane of a backfill. The caller holds the lock `sweep`
 * (ledger/alone.ts).
 *
 * @throws RollcallError CAPTURE_UNFIT where what changes meanwhile would not be noticed, and MAPPING_CHANGED where
 * another mapping is active
 */
export async function runSweep(options: SweepingOptions): Promise<SweepEnd> {
  const { pool, config, kind, marks = [], restriction = NO_RESTRICTION } = options
  await requireCapture(pool, config)
  const mapping = await requireActiveMapping(pool, config)
  const allIn = await allAreBroughtIn(pool)
  const select = { ...ALL_CUSTOMERS, ...restriction.select, bringIn: bringsIn(kind, allIn) }
  const { generation } = mapping
  const capture = await captureVersion(pool, config)
  const asked = { kind, generation, options: restriction.options, marks, capture }
  const { id, total, cursor, ...begun } = await takeUp(options, asked)
  const earlier = { ...NOTHING_FOUND, ...begun.tally }
  await options.onBegin?.({ id, total, tally: earlier, resumed: cursor !== null })
  const findMissed = tellsOfCapture(kind, mapping) ? makeFindMissed(options) : null
  const examples: CustomerKey[] = []
  let superseded = false
  let kept: { readonly cursor: Position | null; readonly tally: SweepTally } = { cursor, tally: earlier }
  const keep = async (now: typeof kept) => {
    kept = now
    return await saveProgress(pool, id, { ...now, fingerprint: config.fingerprint })
  }

  const onPage = async ({ planned, next, ...page }: PageResult): Promise<boolean> => {
    // Before all customers were brought in, it is not known whether a new one has come while nothing captured it.
    const missable = allIn ? planned : planned.filter(({ made }) => made?.found.known)
    const found = (await findMissed?.(missable)) ?? []
    if (found.length > 0) {
      const keys = found.map(({ key }) => key).toSorted()
      examples.push(...keys.slice(0, MOST_EXAMPLES - examples.length))
      const missed = found.map(({ how }) => how).reduce(increased, kept.tally.missed)
      // Once they are owed, nothing shows that they were missed: better counted twice by one that is killed here.
      await keep({ ...kept, tally: { ...kept.tally, missed } })
    }
    await notePlanned(options, planned, select.lookup)
    const tally = { ...page.tally, missed: kept.tally.missed }
    superseded = !(await keep({ cursor: next ?? { part: 'gone', after: null }, tally }))
    if (!superseded) await options.onProgress?.({ planned, tally, next })
    return !superseded
  }

  const from = { position: cursor, tally: earlier }
  const swept = await sweep({ ...options, select, conditions: restriction.conditions, from, onPage })
  const tally = { ...swept.tally, missed: kept.tally.missed }
  const done = { tally: { ...tally, checked: findMissed !== null }, outcome: 'done' } as const
  const ended = swept.ended && (await endRun(pool, id, done))
  superseded ||= swept.ended && !ended
  if (superseded) await dropRuns(pool, { id })
  if (ended) {
    if (kind === 'mapping') await markSwept(pool, generation)
    // A check that stands half way would go on there, days after its first half.
    else if (isForAll(restriction.options)) await dropRuns(pool, { kind: 'check' })
    if (marks.length > 0) await endGap(pool, { ids: marks })
  }
  return { tally, ended, superseded, examples }
}

/**
 * A sweep relies on capture for customers that change behind its back.
 *
 * @throws RollcallError CAPTURE_UNFIT with a line for each table
 */
export async function requireCapture(pool: Pool, config: Config): Promise<void> {
  const lines = (await unfitTables(pool, config)).map(
    ({ relation, reasons }) => `${quotedName(relation)}: ${reasons.join(', ')}`,
  )
  if (lines.length > 0) throw new RollcallError('CAPTURE_UNFIT', lines)
}

/** @throws RollcallError MAPPING_CHANGED where another mapping is active */
export async function requireActiveMapping(pool: Pool, config: Config): Promise<MappingStatus> {
  const mapping = await bindGeneration(pool, config.fingerprint)
  if (!mapping.current) throw mappingChanged(mapping)
  return mapping
}

const NO_RESTRICTION: Restriction = { options: {}, select: {}, conditions: [] }

/**
 * Customers who were never synced are brought in by a sweep that was asked for, and after a gap, since they may have come
 * then. A check or a mapping brings them in only after such a sweep: they may have been left out on purpose.
 */
function bringsIn(kind: SweepKind, allIn: boolean): boolean {
  return kind === 'backfill' || kind === 'resync' || kind === 'gap' || allIn
}

/** After a gap, or while a mapping is being applied, a difference says nothing of capture. */
function tellsOfCapture(kind: SweepKind, { swept }: MappingStatus): boolean {
  return swept && (kind === 'backfill' || kind === 'check' || kind === 'resync')
}

async function takeUp({ pool, kind, restart = false, count }: SweepingOptions, asked: WantedRun) {
  // A resync is asked for with a reason: what was compared before it says nothing.
  const anew = restart || kind === 'resync'
  const unfinished = anew ? null : await findRun<Position, SweepTally>(pool, asked)
  return unfinished ?? (await beginRun<Position, SweepTally>(pool, asked, (await count?.()) ?? null))
}

/**
 * Each statement by itself: in one transaction they would take locks out of the order of the keys. New customers are
 * recorded before they can be claimed, so that two who are one user see each other.
 */
async function notePlanned(
  { pool, config }: SweepingOptions,
  planned: PageResult['planned'],
  lookup: boolean,
) {
  const noted = { now: [] as CustomerKey[], gently: [] as CustomerKey[] }
  const newCustomers: NewCustomer[] = []
  const toLookUp: NewCustomer[] = []
  for (const { key, verdict, owed, made } of planned) {
    if (!made && !owed) noted.gently.push(key)
    const how = made && howToNote(verdict, made.found)
    if (!how) continue
    const { known, plan } = made.found
    const lookupFirst = !known && lookup && plan.kind === 'lookup'
    if (!lookupFirst) noted[how].push(key)
    if (!known) (lookupFirst ? toLookUp : newCustomers).push({ key, userId: userIdFor(config, key) })
  }
  await noteUnknown(pool, toLookUp, LANE.backfill)
  await recordNewCustomers(pool, newCustomers)
  await noteNow(pool, noted.now, LANE.backfill)
  await noteGently(pool, noted.gently, LANE.backfill)
}
