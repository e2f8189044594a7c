import { brakeNeedsPerson as heldNeedsPerson, type KindHeld, readBrake } from '../brake/list.ts'
import { readInstalled } from '../capture/catalog.ts'
import { openMarks } from '../capture/marks.ts'
import { planCapture } from '../capture/relations.ts'
import { captureDifference, captureStatus } from '../capture/status.ts'
import { readEnv } from '../config/env.ts'
import { loadConfig } from '../config/load.ts'
import { findMisfits } from '../customers/describe.ts'
import { quotedName } from '../customers/problems.ts'
import { readVerification } from '../drift/coverage.ts'
import { checkMigrated } from '../ledger/migrate.ts'
import { type Overview, readOverview } from '../ledger/overview.ts'
import { readSweeps, type SweepsReport } from '../ledger/runs.ts'
import { type PaceReport, readPace } from '../pace/read.ts'
import { counted } from '../report/figures.ts'
import { namedService } from '../service/target.ts'
import { BINDING_ENV, bindingStatus, sayBinding } from './binding.ts'
import { withPool } from './connect.ts'
import type { AddCommand } from './io.ts'
import { asJson } from './render.ts'
import { letsThrough } from './say-held.ts'
import {
  type MappingReport,
  mappingStatus,
  type StatusReport,
  sayDiffer,
  sayOverview,
  verificationNeeds,
} from './say-status.ts'
import { allMissed, sayMissed } from './say-sweeps.ts'

type Options = { readonly config?: string; readonly json?: boolean }

const EXAMPLES = `
Examples:
  rollcall status          what is owed, what fails and why, if capture fits
  rollcall status --json   the same for a monitor

Exit code 3 when something needs a person.`

/** `rollcall status`: where everything stands, from Postgres alone. */
export const statusCommand: AddCommand = (program, io, exit) => {
  program
    .command('status')
    .description('show what is owed, what fails and why, and whether capture fits')
    .option('-c, --config <file>', 'configuration file (default: rollcall.config.ts)')
    .option('--json', 'print it as JSON')
    .addHelpText('after', EXAMPLES)
    .action(async (options: Options) => {
      const config = await loadConfig(options.config, io.cwd)
      const env = readEnv(io.env, { need: ['DATABASE_URL'], may: BINDING_ENV })
      const status = await withPool({ url: env.DATABASE_URL, stop: io.stop }, async (pool) => {
        await checkMigrated(pool)
        const overview = await readOverview(pool)
        const binding = await bindingStatus(pool, env)
        const difference = captureDifference(await planCapture(pool, config), await readInstalled(pool))
        const capture = { tables: captureStatus(difference), marks: await openMarks(pool) }
        const misfits = await findMisfits(pool, config)
        const mapping = await mappingStatus(pool, config, env.ROLLCALL_DIGEST_KEY)
        const sweeps = await readSweeps(pool)
        const pace = await readPace(pool)
        const brake = await readBrake(pool)
        const verification = await readVerification(pool, config.reconcile.periodMs)
        const attention = [
          ...sayBinding(binding),
          ...brakeNeeds(brake),
          ...paceNeeds(pace),
          ...misfits.map((misfit) => `${misfit} (correct rollcall.config.ts, or the database)`),
          ...needsPerson(overview, capture),
          ...sweepsNeed(sweeps),
          ...mappingNeeds(mapping),
          ...verificationNeeds(verification),
        ]
        return { overview, binding, pace, brake, capture, sweeps, mapping, verification, attention }
      })
      const { target } = status.overview
      const named = target && namedService(target.origin, config)
      if (options.json) io.out(asJson({ environment: config.service.environment, target: named, ...status }))
      else for (const line of sayOverview(status, config)) io.out(line)
      exit(status.attention.length > 0 ? 3 : 0)
    })
}

/** Workers note changes and take what is due within a second, unless the pace holds them up. */
const WAITS_LONG_MS = 60_000

/** What does not get right by waiting. */
function needsPerson(
  { states, owed, outbox }: Overview,
  { tables, marks }: StatusReport['capture'],
): string[] {
  const unfit = tables.filter(({ state }) => state !== 'fits')
  const { rejected, failing } = states
  return [
    ...(rejected > 0
      ? [`${counted(rejected, 'customer is', 'customers are')} rejected: see \`rollcall failures\``]
      : []),
    ...(failing > 0
      ? [
          `${counted(failing, 'customer fails and is', 'customers fail and are')} tried again: see \`rollcall failures\``,
        ]
      : []),
    ...((outbox.oldestAgeMs ?? 0) > WAITS_LONG_MS
      ? ['changes are captured and nobody notes them: no worker runs, or it hangs; its log tells']
      : []),
    ...((owed.waitsForWorkerMs ?? 0) > WAITS_LONG_MS
      ? [
          'somebody is due for more than a minute: no worker syncs by the present mapping, or it is far behind',
        ]
      : []),
    ...(unfit.length > 0 ? [`not captured as configured: ${sayUnfit(unfit)}: ${sayMend(unfit)}`] : []),
    ...marks.map((mark) =>
      mark.kind === 'truncate'
        ? `${mark.relation} was truncated and nobody was revoked for it: run \`rollcall capture resync\``
        : `capture of ${mark.relation} has a gap; a running worker looks at everybody again`,
    ),
  ]
}

/** Of a table with many partitions `rollcall capture status` tells each. */
const NAMED_UNFIT = 3

function sayUnfit(tables: StatusReport['capture']['tables']): string {
  const named = tables
    .slice(0, NAMED_UNFIT)
    .map(({ relation, reasons }) => `${quotedName(relation)} (${reasons.join('; ')})`)
  const more = tables.length - named.length
  return [...named, ...(more > 0 ? [`${more} more`] : [])].join(', ')
}

function sayMend(tables: StatusReport['capture']['tables']): string {
  const install = 'run `rollcall capture install`'
  const misnamed = tables.some(({ state }) => state === 'misnamed')
  return misnamed ? `correct the configuration or the table, then ${install}` : install
}

/** What was missed is put right; what missed it goes on until somebody finds it. */
function sweepsNeed({ check, missedSince }: SweepsReport): string[] {
  const when = [
    ...(check && allMissed(check.missed) > 0
      ? [`${sayMissed(check.missed)} when it was checked at ${check.endedAt}`]
      : []),
    ...(allMissed(missedSince) > 0
      ? [`${sayMissed(missedSince)}, as a look at some customers has found${check ? ' since' : ''}`]
      : []),
  ]
  if (when.length === 0) return []
  return [
    `capture had missed ${when.join(', and ')}; they were owed a sync then. Something writes without triggers: look for DISABLE TRIGGER, session_replication_role = replica, logical replication that applies rows, partitions without triggers (\`rollcall capture status\`), a view over what is not watched. This stands until a check of everybody finds nothing: the next one, or \`rollcall capture resync\` now`,
  ]
}

function brakeNeeds(brake: readonly KindHeld[]): string[] {
  return brake.filter(heldNeedsPerson).map(({ kind, held, taken, trippedAt }) => {
    if (held === 0)
      return `the brake (${kind}) has been tripped since ${trippedAt}, nobody is held: ${letsThrough(kind)}`
    const since = trippedAt === null ? '' : `; it let ${taken} through before it tripped at ${trippedAt}`
    return `the brake holds ${counted(held, 'customer')} (${kind})${since}: see \`rollcall held\``
  })
}

/** It goes on by itself once the service does; with the wrong keys it does not. */
function paceNeeds(pace: PaceReport | null): string[] {
  if (pace?.breaker !== 'open') return []
  const [why, who] =
    pace.cause === 'credentials'
      ? ['the service refuses keys', 'workers that have them make']
      : ['the service is out of order', 'workers make']
  return [
    `${why} since ${pace.openedAt}: ${who} a probe now and then, and no other call; see \`rollcall pace\``,
  ]
}

/** A person decides when a changed mapping is applied. */
function mappingNeeds(mapping: MappingReport | null): string[] {
  if (!mapping || mapping.current) return []
  const which = mapping.earlier ? 'was replaced by a later one' : 'is not applied'
  const differ = mapping.differ ? ` (${sayDiffer(mapping.differ)})` : ''
  return [
    `the mapping of this configuration ${which}: nothing is sent by it${differ}; to apply it, run \`rollcall backfill --mapping\``,
  ]
}
