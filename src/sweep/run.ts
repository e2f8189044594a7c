// A sweep that owes: each page is noted before its end is stored, so that one that is killed goes on where it was and
// passes over nobody.
import type { Pool } from 'pg'
import { captureVersion } from '../capture/catalog.ts'
import { endGap } from '../capture/gap.ts'
import type { Config } from '../config/config.ts'
import { type MappingStatus, markSwept } from '../ledger/generation.ts'
import { type Newcomer, noteGently, noteNow, noteUnknown, recordNewcomers } from '../ledger/note.ts'
import {
  beginRun,
  dropRuns,
  endRun,
  findRun,
  isForEverybody,
  keepRun,
  type Position,
  type SweepKind,
  type Unfinished,
} from '../ledger/runs.ts'
import { everybodyIsIn } from '../ledger/runs-read.ts'
import { type CustomerKey, LANE } from '../model/customer.ts'
import type { Digester } from '../sync/digest.ts'
import { userIdFor } from '../sync/map.ts'
import { EVERYBODY, howToNote, type SweepSelection } from './differs.ts'
import type { Judged } from './judge.ts'
import { makeFindMissed, NOBODY } from './missed.ts'
import { requireCapture, requireStanding } from './ready.ts'
import type { Restriction } from './restriction.ts'
import { type PageResult, type Swept, sweep } from './sweep.ts'
import { addMissed, NOTHING_FOUND, type SweepTally } from './tally.ts'

export type SweepingOptions = {
  readonly pool: Pool
  readonly config: Config
  readonly digester: Digester
  readonly signal: AbortSignal
  readonly kind: SweepKind
  /** The gaps in capture that are closed at its end. */
  readonly marks?: readonly string[]
  /** Whom it is for; default everybody. */
  readonly restriction?: Restriction
  /** An unfinished one is not gone on with. */
  readonly restart?: boolean
  /** Counts the customers for the progress that is shown; default: nobody does. */
  readonly count?: () => Promise<number | null>
  /** Once it is known which sweep this is, and whether it goes on with an earlier one. */
  readonly onBegin?: (begun: BegunSweep) => Promise<void>
  /** Told of each page, which is behind once it has resolved. */
  readonly onProgress?: (looked: PageResult) => Promise<void>
  /** Customers in a page. */
  readonly page?: number
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
  /** Some of those whom this process has found to be missed by capture, so that somebody can look for what wrote them. */
  readonly examples: readonly CustomerKey[]
}

const MOST_EXAMPLES = 20

/**
 * Looks at everybody and owes a sync to those who differ, in the lane of a backfill. Who calls this is alone; see
 * ledger/alone.ts.
 *
 * @throws RollcallError CAPTURE_UNFIT where what changes meanwhile would not be noticed, and MAPPING_CHANGED where
 * syncs go by another mapping
 */
export async function runSweep(options: SweepingOptions): Promise<SweepEnd> {
  const { pool, config, signal, kind, restriction = NO_RESTRICTION } = options
  await requireCapture(pool, config)
  const standing = await requireStanding(pool, config)
  const allIn = await everybodyIsIn(pool)
  const select = { ...EVERYBODY, ...restriction.select, bringIn: bringsIn(kind, allIn) }
  const unfinished = await takeUp(options, standing)
  const begun = {
    id: unfinished.id,
    total: unfinished.total,
    tally: { ...NOTHING_FOUND, ...unfinished.tally },
  }
  await options.onBegin?.({ ...begun, resumed: unfinished.cursor !== null })
  const findMissed = tellsOfCapture(kind, standing) ? makeFindMissed(options) : null
  let missed = begun.tally.missed
  const examples: CustomerKey[] = []
  let superseded = false
  let cursor = unfinished.cursor
  let before = begun.tally
  const store = async (tally: SweepTally) => {
    return await keepRun(pool, begun.id, { cursor, tally, fingerprint: config.fingerprint })
  }

  const onPage = async ({ judged, tally, next }: PageResult): Promise<boolean> => {
    const found = await findMissed?.(onlyMissable(judged, allIn))
    if (found && found !== NOBODY) {
      missed = addMissed({ ...tally, missed }, found.missed).missed
      examples.push(...found.keys.slice(0, MOST_EXAMPLES - examples.length))
      // Once they are owed, nothing shows that they were missed: better counted twice by one that is killed here.
      await store({ ...before, missed })
    }
    await noteJudged(pool, { config, judged, select })
    before = { ...tally, missed }
    cursor = next ?? { part: 'gone' as const, after: null }
    superseded = !(await store(before))
    if (superseded) return false
    await options.onProgress?.({ judged, tally: before, next })
    return true
  }
  const from = { position: unfinished.cursor, tally: begun.tally }
  const sweeping = { ...options, select, conditions: restriction.conditions, signal, from, onPage }
  const swept = await sweep(sweeping)
  const tally = { ...swept.tally, missed }
  const checked = findMissed !== null
  const ended =
    swept.ended && (await endRun(pool, begun.id, { tally: { ...tally, checked }, outcome: 'done' }))
  superseded ||= swept.ended && !ended
  if (superseded) await dropRuns(pool, { id: begun.id })
  if (ended) await markEnded(options, standing)
  return { tally, ended, superseded, examples }
}

/** What everybody was looked at for. */
async function markEnded(
  { pool, kind, marks = [], restriction = NO_RESTRICTION }: SweepingOptions,
  { generation }: MappingStatus,
): Promise<void> {
  if (kind === 'mapping') await markSwept(pool, generation)
  if (marks.length > 0) await endGap(pool, { ids: marks })
  // A check that stands half way would go on there, days after its first half.
  if (kind !== 'mapping' && isForEverybody(restriction.options)) await dropRuns(pool, { kind: 'check' })
}

const NO_RESTRICTION: Restriction = { options: {}, select: {}, conditions: [] }

/**
 * Whoever was never synced is brought in by those who asked for everybody, and after a gap, since it may have come then.
 * A check or a mapping brings in nobody before somebody has asked for everybody: they may have been left out on purpose.
 */
function bringsIn(kind: SweepKind, allIn: boolean): boolean {
  switch (kind) {
    case 'backfill':
    case 'resync':
    case 'gap':
      return true
    case 'mapping':
    case 'check':
      return allIn
    default:
      return kind satisfies never
  }
}

/** After a gap, or while a mapping is being applied, that somebody differs says nothing of capture. */
function tellsOfCapture(kind: SweepKind, { swept }: MappingStatus): boolean {
  return swept && (kind === 'backfill' || kind === 'check' || kind === 'resync')
}

/** Before everybody was brought in, nobody knows whether somebody new has come while nothing captured it. */
function onlyMissable(judged: readonly Judged[], allIn: boolean): readonly Judged[] {
  return allIn ? judged : judged.filter(({ made }) => made?.found.known)
}

async function takeUp(
  { pool, kind, marks = [], restriction = NO_RESTRICTION, restart = false, count }: SweepingOptions,
  { generation }: MappingStatus,
): Promise<Unfinished<Position, SweepTally>> {
  const capture = await captureVersion(pool)
  const asked = { kind, generation, options: restriction.options, marks, capture }
  // Somebody who asks for a resync has a reason to: what was looked at before it says nothing.
  const anew = restart || kind === 'resync'
  const unfinished = anew ? null : await findRun<Position, SweepTally>(pool, asked)
  return unfinished ?? (await beginRun<Position, SweepTally>(pool, asked, (await count?.()) ?? null))
}

type Noting = { readonly config: Config; readonly judged: readonly Judged[]; readonly select: SweepSelection }

/**
 * Each statement by itself, since in one transaction two of them would take locks out of the order of the keys. Whoever
 * is new is recorded before it can be claimed, so that two who are one user see each other.
 */
async function noteJudged(pool: Pool, { config, judged, select }: Noting): Promise<void> {
  const noted = { now: [] as CustomerKey[], gently: [] as CustomerKey[] }
  const newcomers: Newcomer[] = []
  const toLookAt: Newcomer[] = []
  for (const { key, verdict, owed, made } of judged) {
    if (!made) {
      if (!owed) noted.gently.push(key)
      continue
    }
    const how = howToNote(verdict, made.found)
    if (!how) continue
    const { known, plan } = made.found
    const looksFirst = !known && select.lookup && plan.kind === 'lookup'
    if (!looksFirst) noted[how].push(key)
    if (!known) (looksFirst ? toLookAt : newcomers).push({ key, userId: userIdFor(config, key) })
  }
  await noteUnknown(pool, toLookAt, LANE.backfill)
  await recordNewcomers(pool, newcomers)
  await noteNow(pool, noted.now, LANE.backfill)
  await noteGently(pool, noted.gently, LANE.backfill)
}
