import type { Pool } from 'pg'
import { brakeNeedsPerson, type KindHeld } from '../brake/list.ts'
import type { CaptureMark } from '../capture/marks.ts'
import type { TableStatus } from '../capture/status.ts'
import type { Config } from '../config/config.ts'
import type { VerificationReport } from '../drift/coverage.ts'
import { DRIFT_KINDS, WRONG_ACCESS } from '../drift/words.ts'
import { type MappingStatus, readStanding } from '../ledger/generation.ts'
import type { Overview } from '../ledger/overview.ts'
import { everybodyIsIn, type SweepsReport } from '../ledger/runs.ts'
import { sayDuration } from '../model/duration.ts'
import { sayService } from '../model/service.ts'
import type { PaceReport } from '../pace/read.ts'
import { driftingOf } from '../report/conclude.ts'
import { counted } from '../report/figures.ts'
import { ACCESS, sayAmongHeld } from '../report/words.ts'
import { namedService } from '../service/target.ts'
import { EVERYBODY } from '../sweep/judge.ts'
import { type Swept, sweep } from '../sweep/sweep.ts'
import { makeDigester } from '../sync/digest.ts'
import type { BindingStatus } from './binding.ts'
import { lines, span } from './render.ts'
import { sayShownSweeps } from './say-sweeps.ts'

export type StatusReport = {
  readonly overview: Overview
  readonly binding: BindingStatus
  readonly pace: PaceReport | null
  readonly brake: readonly KindHeld[]
  readonly capture: { readonly tables: readonly TableStatus[]; readonly marks: readonly CaptureMark[] }
  readonly sweeps: SweepsReport
  readonly mapping: MappingReport | null
  readonly verification: VerificationReport
  /** Something needs a person; exit code 3. */
  readonly attention: readonly string[]
}

/** The status as lines for a person: what it is about, what is owed, what is wrong. */
export function sayOverview(status: StatusReport, config: Config): string[] {
  const { overview, pace, brake, capture, sweeps, mapping, verification, attention } = status
  const { owed, outbox, states, target } = overview
  const total = owed.deletion + owed.change + owed.repair + owed.backfill
  const captured = capture.tables.filter(({ state }) => state === 'fits').length
  return [
    ...lines(
      'service',
      target
        ? sayService(namedService(target.origin, config))
        : `not bound yet: no call was ever made (${config.service.environment})`,
    ),
    ...lines('mapping', sayMapping(mapping)),
    ...lines(
      'customers',
      `${overview.customers} known, ${states.idle} settled, ${states.failing} failing, ${states.rejected} rejected, ${states.held} held, ${
        states.released > 0 ? `${states.released} released, ` : ''
      }${states.discarded} discarded`,
    ),
    ...lines(
      'capture',
      `${captured} of ${capture.tables.length} tables; ${counted(outbox.rows, 'change')} not noted yet${age(outbox.oldestAgeMs)}`,
    ),
    ...sayShownSweeps(sweeps).flatMap(([label, text]) => lines(label, text)),
    ...lines(
      'owed',
      total === 0
        ? 'nothing'
        : `${total}: ${owed.due} due, ${owed.queued} queued, ${owed.active} active, ${owed.waiting} waiting${age(owed.oldestAgeMs)}`,
    ),
    ...(overview.unknown > 0
      ? lines('unknown', `${counted(overview.unknown, 'user has', 'users have')} to be looked up first`)
      : []),
    ...lines('pace', pace ? sayPace(pace) : 'not set yet'),
    ...sayBrake(brake),
    ...lines('verified', sayVerified(verification)),
    ...lines('drift', sayDrift(verification)),
    ...reasons(overview),
    ...attention.flatMap((what) => lines('attention', what)),
  ]
}

function sayPace({ rate, ceiling, heldForMs, breaker, cause, nextProbeMs }: PaceReport): string {
  const held = heldForMs > 0 ? `, held for ${seconds(heldForMs)}` : ''
  const stopped = breaker === 'open' ? `; stopped (${cause}), next probe in ${seconds(nextProbeMs ?? 0)}` : ''
  return `${Number(rate.toFixed(1))} of ${ceiling} calls/s${held}${stopped}`
}

/** Of a kind that needs a person its line among those that want attention says all. */
function sayBrake(brake: readonly KindHeld[]): string[] {
  const others = brake.filter((each) => !brakeNeedsPerson(each))
  const taken = others.filter((each) => each.taken > 0).map((each) => `${each.taken} × ${each.kind}`)
  if (taken.length > 0) return lines('brake', `${taken.join(', ')} let through`)
  return others.length === brake.length ? lines('brake', 'nothing counted') : []
}

function sayMapping(mapping: MappingReport | null): string {
  if (!mapping) return 'none was ever gone by: the first worker takes up its own'
  const { generation, appliedAt, current, swept } = mapping
  const sweeping = swept ? '' : '; not everybody was looked at yet, a worker is at it'
  return `generation ${generation}, since ${appliedAt}${current ? '' : ', of another configuration than this one'}${sweeping}`
}

/** What applying a mapping would change, as far as there was time to look. */
export function sayDiffer({ tally, ended }: Swept): string {
  const { customers, verdicts } = tally
  return ended
    ? `${verdicts.differs} of ${customers} customers differ`
    : `at least ${verdicts.differs} differ, of the first ${customers} customers`
}

function reasons({ reasons, fieldIssues }: Overview): string[] {
  return [
    ...reasons.filter(isOfSync).flatMap(({ state, code, status, fields, customers }) => {
      const which = code === 'mapping' && fields && fields.length > 0 ? `: ${fields.join(', ')}` : ''
      return lines(state, `${customers} × ${code}${which}${status === null ? '' : ` (${status})`}`)
    }),
    ...fieldIssues.flatMap(({ field, code, customers }) =>
      lines('left out', `${customers} × ${field}: ${code}`),
    ),
  ]
}

/** What the brake holds is told by its kinds. */
function isOfSync({ code }: Overview['reasons'][number]): boolean {
  return code !== 'held'
}

function age(ms: number | null): string {
  return ms === null ? '' : `, oldest ${seconds(ms)}`
}

function seconds(ms: number): string {
  return ms < 120_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`
}

/** The two lines of `rollcall status` on whether the service agrees: how far that was looked at, and what was found. */
export function sayVerified({ coverage }: VerificationReport): string {
  const { periodMs, customers, within, never, oldestAgeMs, proof } = coverage
  if (periodMs === null) return 'not by workers: reconcile.period is false'
  if (customers === 0) return 'nobody is at the service yet'
  const seen = oldestAgeMs === null ? '' : `, the oldest look ${span(oldestAgeMs)} ago`
  const unseen = never > 0 ? `, ${never} never yet` : ''
  const proved = proof
    ? `; from commit to verified: ${span(proof.medianMs)} (median), ${span(proof.p95Ms)} (95 %), of the last ${proof.customers}`
    : ''
  return `${percent(within, customers)} of ${customers} customers within ${sayDuration(periodMs)}${seen}${unseen}${proved}`
}

/** Access first: somebody is shut out, or let in at your cost. */
export function sayDrift({ open, access, heldAccess, doubt }: VerificationReport): string {
  const wrong = sayWrongAccess(access, heldAccess).map((each) => `${each}; `)
  const kinds = DRIFT_KINDS.filter((kind) => open[kind] > 0).map((kind) => `${open[kind]} ${kind}`)
  const doubted = doubt === null ? '' : `; ${sayDoubt(doubt)}, which is not believed`
  return `${wrong.join('')}${kinds.length > 0 ? kinds.join(', ') : 'none found'}${doubted}`
}

type Access = VerificationReport['access']

/** One text at most. */
function sayWrongAccess(access: Access, held: Access): string[] {
  const some = WRONG_ACCESS.filter((which) => access[which] > 0).map(
    (which) => `${access[which]} ${ACCESS[which].means}${sayAmongHeld(held[which], access[which])}`,
  )
  return some.length === 0 ? [] : [some.join(', ')]
}

/** Of findings alone: what to do about those who are held is something else. */
function foundAlone({ access, heldAccess }: VerificationReport): Access {
  return { lost: access.lost - heldAccess.lost, undue: access.undue - heldAccess.undue }
}

const NOBODY: Access = { lost: 0, undue: 0 }

function sayDoubt({ denied, asked }: NonNullable<VerificationReport['doubt']>): string {
  return `of the ${counted(asked, 'user')} asked at random, ${denied} are not there by what the service says, or cannot be read`
}

export function verificationNeeds(verification: VerificationReport): string[] {
  const { coverage, open, doubt } = verification
  const { customers, overdue, periodMs } = coverage
  const drift = driftingOf({ kinds: open })
  return [
    ...(drift > 0
      ? [
          `the service differs from the database for ${counted(drift, 'customer')}${sayWrongAccess(
            foundAlone(verification),
            NOBODY,
          )
            .map((each) => `, ${each}`)
            .join('')}: see \`rollcall drift --from-ledger\``,
        ]
      : []),
    ...(doubt !== null
      ? [
          `${sayDoubt(doubt)}: that is told of no single customer, and none of them is repaired; is it still the right service, and not an emptied one? If it is meant, \`rollcall drift --believe --why …\` says so`,
        ]
      : []),
    ...(isBehind(coverage) && periodMs !== null
      ? [
          `${overdue} of ${customers} customers were not verified within ${sayDuration(periodMs)}: workers are too few or stopped, or the pace is too slow for reconcile.period`,
        ]
      : []),
  ]
}

/** Somebody is always passed over: something is owed to them, or the service does not answer for them. */
const FEW = 0.05

function isBehind({ customers, overdue }: VerificationReport['coverage']): boolean {
  return overdue > Math.max(3, customers * FEW)
}

/** Never 100 % while somebody is missing. */
function percent(part: number, whole: number): string {
  const share = Math.floor((part / whole) * 1000) / 10
  return `${share} %`
}

/** Where the mapping of this configuration stands; null on a ledger that has met none. */
export type MappingReport = MappingStatus & {
  /** What it would change; null where it is the present one, or without the key of the digests. */
  readonly differ: Swept | null
}

/** A status is waited for: where there are too many customers to look at in this time, some are. */
const BUDGET_MS = 5000

export async function mappingStatus(
  pool: Pool,
  config: Config,
  digestKey: string | undefined,
): Promise<MappingReport | null> {
  const standing = await readStanding(pool, config.fingerprint)
  if (!standing) return null
  if (standing.current || digestKey === undefined) return { ...standing, differ: null }
  const signal = AbortSignal.timeout(BUDGET_MS)
  const select = { ...EVERYBODY, bringIn: await everybodyIsIn(pool) }
  return {
    ...standing,
    differ: await sweep({ pool, config, digester: makeDigester(digestKey), select, signal }),
  }
}
