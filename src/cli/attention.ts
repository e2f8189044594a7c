// What a person has to do something about, because waiting does not help. Each as one text.
import { brakeNeedsPerson, type KindHeld } from '../brake/list.ts'
import type { CaptureMark, Gap } from '../capture/marks.ts'
import type { TableStatus } from '../capture/status.ts'
import { quotedName } from '../customers/problems.ts'
import type { MappingStatus } from '../ledger/generation.ts'
import type { Overview } from '../ledger/overview.ts'
import type { PaceReport } from '../pace/read.ts'
import { counted } from '../report/figures.ts'
import type { Swept } from '../sweep/sweep.ts'
import { when } from './render.ts'
import { letsThrough } from './render-held.ts'

/** Workers note changes and take what is due within a second, unless the pace holds them up. */
const WAITS_LONG_MS = 60_000

export function overviewNeeds({ states: { rejected, failing }, owed, outbox }: Overview): readonly string[] {
  return [
    ...when(
      rejected > 0,
      `${counted(rejected, 'customer is', 'customers are')} rejected: see \`rollcall failures\``,
    ),
    ...when(
      failing > 0,
      `${counted(failing, 'customer fails and is', 'customers fail and are')} tried again: see \`rollcall failures\``,
    ),
    ...when(
      (outbox.oldestAgeMs ?? 0) > WAITS_LONG_MS,
      'changes are captured and nobody notes them: no worker runs, or it hangs; its log tells',
    ),
    ...when(
      (owed.waitsForWorkerMs ?? 0) > WAITS_LONG_MS,
      'a customer is due for more than a minute: no worker syncs by the active mapping, or it is far behind',
    ),
  ]
}

/** Of a table with many partitions `rollcall capture status` names each. */
const NAMED_UNFIT = 3

type Capture = {
  readonly tables: readonly TableStatus[]
  readonly marks: readonly CaptureMark[]
  readonly gap: Gap
}

export function captureNeeds({ tables, marks, gap }: Capture): readonly string[] {
  const unfit = tables.filter(({ state }) => state !== 'fits')
  const named = unfit.map(({ relation, reasons }) => `${quotedName(relation)} (${reasons.join('; ')})`)
  const which = [
    ...named.slice(0, NAMED_UNFIT),
    ...when(named.length > NAMED_UNFIT, `${named.length - NAMED_UNFIT} more`),
  ]
  const misnamed = unfit.some(({ state }) => state === 'misnamed')
  const first = misnamed ? 'correct the configuration or the table, then ' : ''
  return [
    ...when(
      unfit.length > 0,
      `not captured as configured: ${which.join(', ')}: ${first}run \`rollcall capture install\``,
    ),
    ...marks.map(({ kind, relation }) =>
      kind === 'truncate'
        ? `${relation} was truncated and nobody was revoked for it: run \`rollcall capture resync\``
        : `capture of ${relation} has a gap; a running worker checks all customers again`,
    ),
    ...when(
      gap.ids.length > 0 && !gap.ready,
      'all customers are checked for a gap of capture once the transactions that were open then have ended: end them',
    ),
  ]
}

export function brakeNeeds(brake: readonly KindHeld[]): readonly string[] {
  return brake.filter(brakeNeedsPerson).map(({ kind, held, taken, trippedAt }) => {
    if (held === 0)
      return `the brake (${kind}) has been tripped since ${trippedAt}, nobody is held: ${letsThrough(kind)}`
    const since = trippedAt === null ? '' : `; it let ${taken} through before it tripped at ${trippedAt}`
    return `the brake holds ${counted(held, 'customer')} (${kind})${since}: see \`rollcall held\``
  })
}

/** Calls go on by themselves once the service does; with the wrong keys they do not. */
export function paceNeeds(pace: PaceReport | null): readonly string[] {
  if (!pace?.cause) return []
  const [why, who] =
    pace.cause === 'credentials'
      ? ['the service refuses keys', 'workers that have them make']
      : ['the service is out of order', 'workers make']
  return [
    `${why} since ${pace.openedAt}: ${who} a probe now and then, and no other call; see \`rollcall pace\``,
  ]
}

/** A person decides when a changed mapping is applied. */
export function mappingNeeds(
  mapping: (MappingStatus & { readonly differ: Swept | null }) | null,
): readonly string[] {
  if (!mapping || mapping.current) return []
  const which = mapping.earlier ? 'was replaced by a later one' : 'is not applied'
  const differ = mapping.differ ? ` (${sayDiffer(mapping.differ)})` : ''
  return [
    `the mapping of this configuration ${which}: nothing is sent by it${differ}; to apply it, run \`rollcall backfill --mapping\``,
  ]
}

/** As far as there was time to compare. */
function sayDiffer({ tally: { customers, verdicts }, ended }: Swept): string {
  return ended
    ? `${verdicts.differs} of ${customers} customers differ`
    : `at least ${verdicts.differs} differ, of the first ${customers} customers`
}
