import type { Pool } from 'pg'
import { limitOf } from '../brake/brake.ts'
import { type KindHeld, readBrake } from '../brake/list.ts'
import { countBases } from '../brake/reserve.ts'
import { openMarks, readGap } from '../capture/marks.ts'
import { captureStatus } from '../capture/status.ts'
import type { Config } from '../config/config.ts'
import type { Env } from '../config/env.ts'
import { loadConfig } from '../config/load.ts'
import { findMisfits } from '../customers/describe.ts'
import { readVerification } from '../drift/coverage.ts'
import { findMapping } from '../ledger/generation.ts'
import { type Overview, readOverview } from '../ledger/overview.ts'
import { allAreBroughtIn, readSweeps } from '../ledger/runs.ts'
import { renderService } from '../model/service.ts'
import { isStopped, readPace } from '../pace/read.ts'
import { counted, figure, renderRate } from '../report/figures.ts'
import { namedService } from '../service/address.ts'
import { sweep } from '../sweep/sweep.ts'
import { ALL_CUSTOMERS } from '../sweep/verdict.ts'
import { makeDigester } from '../sync/digest.ts'
import {
  brakeNeeds,
  captureNeeds,
  mappingNeeds,
  overviewNeeds,
  paceNeeds,
  renderCustomers,
  renderDelay,
  renderDrift,
  renderVerified,
  verificationNeeds,
} from './attention.ts'
import { activeMapping, renderMapping } from './backfill-asked.ts'
import { BINDING_ENV, bindingStatus, renderBinding } from './binding.ts'
import { withDatabase } from './connect.ts'
import type { AddCommand } from './io.ts'
import { CONFIG_OPTION, JSON_OPTION } from './option-values.ts'
import { PACE_NOT_SET, renderCalling } from './pace.ts'
import { applying, definitions, renderCounts, span, tell } from './render.ts'
import { renderReasons } from './render-failures.ts'
import { issueName, together } from './render-reason.ts'
import { renderSweeps, sweepsNeed } from './render-sweeps.ts'

const EXAMPLES = `
Examples:
  rollcall status          owed syncs, failures, and the state of capture
  rollcall status --json   the same for a monitor

Exit code 3: a person must act. The lines "attention" come first, one for each
problem.`

export const statusCommand: AddCommand = (program, io, exit) => {
  program
    .command('status')
    .option(...CONFIG_OPTION)
    .option(...JSON_OPTION)
    .addHelpText('after', EXAMPLES)
    .action(async ({ config: file, json }) => {
      const config = await loadConfig(file, io.cwd)
      const status = await withDatabase(io, { may: BINDING_ENV }, (pool, env) =>
        readStatus(pool, config, env),
      )
      tell(io, json, status, () => renderStatus(status))
      exit(status.attention.length > 0 ? 3 : 0)
    })
}

async function readStatus(pool: Pool, config: Config, env: Env<never, (typeof BINDING_ENV)[number]>) {
  const { fieldIssues, ...counts } = await readOverview(pool)
  const overview = { ...counts, fieldIssues: together(fieldIssues) }
  const read = {
    environment: config.service.environment,
    target: overview.target && namedService(overview.target.origin, config),
    overview,
    binding: await bindingStatus(pool, env),
    pace: await readPace(pool),
    brake: await readBrake(pool),
    brakeLimits: await readLimits(pool, config),
    capture: {
      tables: await captureStatus(pool, config),
      marks: await openMarks(pool),
      gap: await readGap(pool),
    },
    sweeps: await readSweeps(pool),
    mapping: await mappingStatus(pool, config, env.ROLLCALL_DIGEST_KEY),
    verification: await readVerification(pool, config.reconcile.periodMs),
  }
  const misfits = await findMisfits(pool, config)
  const attention = [
    ...renderBinding(read.binding),
    ...misfits.map((misfit) => `${misfit} (correct the configuration or the database)`),
    ...paceNeeds(read.pace),
    ...captureNeeds(read.capture),
    ...sweepsNeed(read.sweeps),
    ...mappingNeeds(read.mapping),
    ...brakeNeeds(read.brake),
    ...overviewNeeds(overview),
    ...verificationNeeds(read.verification),
  ]
  return { ...read, attention }
}

/** A status is waited for: with too many customers to compare in this time, it compares some. */
const BUDGET_MS = 5000

async function mappingStatus(pool: Pool, config: Config, digestKey: string | undefined) {
  const mapping = await findMapping(pool, config.fingerprint)
  if (!mapping) return null
  if (mapping.current || digestKey === undefined) return { ...mapping, differ: null }
  const select = { ...ALL_CUSTOMERS, bringIn: await allAreBroughtIn(pool) }
  const signal = AbortSignal.timeout(BUDGET_MS)
  return {
    ...mapping,
    differ: await sweep({ pool, config, digester: makeDigester(digestKey), select, signal }),
  }
}

function renderStatus(status: Awaited<ReturnType<typeof readStatus>>): string[] {
  const { overview, pace, capture, mapping, verification, attention } = status
  const { outbox, unknown } = overview
  const captured = capture.tables.filter(({ state }) => state === 'fits' || state === 'leftover').length
  const { target, environment } = status
  return definitions({
    attention,
    service: target ? renderService(target) : `no call was made yet (${environment})`,
    mapping: `${renderMapping(activeMapping(mapping))}${mapping?.swept === false ? SWEEPING : ''}`,
    customers: renderCustomers(overview),
    capture: [
      `${captured} of ${counted(capture.tables.length, 'table')} captured`,
      `${counted(outbox.rows, 'change')} in the outbox${oldest(outbox.oldestAgeMs)}`,
    ],
    sweep: renderSweeps(status.sweeps),
    owed: renderOwed(overview),
    unknown:
      unknown > 0 &&
      `${counted(unknown, 'customer')}: a lookup (GET) comes before the next write, because the present state at the service is not certain`,
    pace: pace
      ? isStopped(pace)
        ? renderCalling(pace)
        : `${renderRate(pace.rate)}, ceiling ${renderRate(pace.ceiling)}`
      : PACE_NOT_SET,
    brake: renderBrake(status.brake, status.brakeLimits),
    checked: renderVerified(verification, overview),
    delay: renderDelay(verification),
    drift: renderDrift(verification),
    ...renderReasons(overview.reasons),
    'left out': overview.fieldIssues.map(
      ({ customers, fields, ...issue }) =>
        `${figure(customers)} × ${issueName(issue)}${fields.length > 1 ? ` (and ${counted(fields.length - 1, 'more field')})` : ''}`,
    ),
  })
}

const SWEEPING = '; not all customers are compared with it yet'

function renderOwed({ owed, states, outbox }: Overview): string | string[] {
  const total = owed.deletion + owed.change + owed.repair + owed.backfill
  if (total === 0) return outbox.rows === 0 ? 'nothing' : 'nothing yet: no worker has read the outbox'
  const { failing, released } = states
  const { due, queued, active, waiting } = owed
  const earlier = total - states.owed - failing - released
  return applying([
    `${counted(total, 'customer')}${oldest(owed.oldestAgeMs)}: ${renderCounts({ 'due now': due, queued, active, 'due later': waiting })}`,
    earlier + failing + released > 0 &&
      `among them ${renderCounts({ failing, released, 'still rejected or held': earlier })}`,
  ])
}

/** By this configuration: the most customers that may lose access, or be registered, within `brake.windowHours`. */
async function readLimits(pool: Pool, { brake: { changes, creates, windowHours } }: Config) {
  const { entitled, present } = await countBases(pool)
  const limits = { changes: limitOf(changes, entitled), creates: limitOf(creates, present) }
  return { withAccess: entitled, windowHours, ...limits }
}

type Limits = Awaited<ReturnType<typeof readLimits>>

function renderBrake(
  brake: readonly KindHeld[],
  { withAccess, windowHours, changes, creates }: Limits,
): string[] {
  const revocation = brake.find(({ kind }) => kind === 'revocation')
  const counts = brake.flatMap(({ kind, taken, trippedAt }) =>
    taken > 0 ? `${figure(taken)} × ${kind}${trippedAt === null ? '' : ' (tripped)'}` : [],
  )
  return applying([
    `counted towards the limits: ${counts.join(', ') || 'nothing'}`,
    `limits in ${windowHours} h: ${figure(creates)} × create, ${figure(changes)} × each other kind`,
    withAccess > 0 &&
      !revocation?.trippedAt &&
      changes >= withAccess &&
      `a limit of ${figure(changes)} in ${windowHours} h does not protect the customers with access (${figure(withAccess)}): set brake.changes lower`,
  ])
}

function oldest(ms: number | null): string {
  return ms === null ? '' : `, the oldest for ${span(ms)}`
}
