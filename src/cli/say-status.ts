import { brakeNeedsPerson, type KindHeld } from '../brake/list.ts'
import type { CaptureMark } from '../capture/marks.ts'
import type { TableStatus } from '../capture/status.ts'
import type { Config } from '../config/config.ts'
import type { VerificationReport } from '../drift/coverage.ts'
import type { Overview } from '../ledger/overview.ts'
import type { SweepsReport } from '../ledger/runs-read.ts'
import { sayService } from '../model/service.ts'
import type { PaceReport } from '../pace/read.ts'
import { counted } from '../report/figures.ts'
import { namedService } from '../service/target.ts'
import type { Swept } from '../sweep/sweep.ts'
import type { BindingStatus } from './binding.ts'
import type { MappingReport } from './mapping-status.ts'
import { sayShownSweeps } from './say-sweeps.ts'
import { sayDrift, sayVerified } from './say-verification.ts'
import { hanging } from './say-wrapped.ts'

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

export function lines(label: string, text: string): string[] {
  return hanging(`${label.padEnd(12)} `, text)
}

function age(ms: number | null): string {
  return ms === null ? '' : `, oldest ${seconds(ms)}`
}

function seconds(ms: number): string {
  return ms < 120_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`
}
