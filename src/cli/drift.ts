import type { Pool } from 'pg'
import type { Config } from '../config/config.ts'
import { readEnv } from '../config/env.ts'
import { loadConfig } from '../config/load.ts'
import { readVerification, type VerificationReport } from '../drift/coverage.ts'
import { readKnownOfAll, readOpenFound } from '../drift/found.ts'
import { readPast, readTime } from '../drift/runs.ts'
import { checkMigrated } from '../ledger/migrate.ts'
import { boundOrigin } from '../ledger/target.ts'
import { RollcallError } from '../model/errors.ts'
import type { Report, ReportCoverage } from '../report/report.ts'
import { sayHeadline } from '../report/say.ts'
import { namedService } from '../service/target.ts'
import { withPool } from './connect.ts'
import { type DriftAsked, type DriftFlags, readDriftAsked } from './drift-options.ts'
import { checkOutput, linesOf, writeWhole } from './drift-print.ts'
import { exitFor, optionsOf, trendOf, warningOf } from './drift-report.ts'
import { serviceReport } from './drift-run.ts'
import { type AddCommand, type ExitCode, type Io, VERSION } from './io.ts'
import { gathered } from './option-values.ts'
import { shown } from './render.ts'

const EXAMPLES = `
Everybody is looked at by one GET, and whoever differs by a second one; workers
may run meanwhile, and what is owed goes first. Half of the common pace is used,
or --rate. Ctrl-C stops it; the same command goes on where it stopped, within a
day. No field's value is in the report, unless --show-values asks for them.

--sample looks at so many at random, and says what that means for everybody.
--max-drift is held against the share of those who were checked or are held,
of a sample against its estimate; the 95 % interval is in the report.

Whoever the brake holds is not looked at, and counts as drift: what the database
wants for them is known not to be at the service. Who would lose access counts
as undue access meanwhile, who would get it as lost, as far as the records tell.
\`rollcall held\` lists them.
What a person has discarded is accepted, and is none.

--repair owes whoever differs a sync, once the run as a whole can be believed;
workers carry it out, behind the brake: above its limit for repairs customers
wait for a person (\`rollcall held\`). Status 0 where a trial was agreed on is
told, and is no drift.

Where the service says of many users that they are not there, that is told of
none of them, since it is far likelier the wrong service. --believe says that it
is meant, for a day; it is kept with your name.

Exit codes:
  0  nobody who was checked differs and nobody is held, or no more than
     --max-drift
  3  drift is found
  1  it was stopped, it failed, or the answers cannot be believed (a service
     that knows nobody, or answers nothing): then nothing is said of customers;
     also when there is nobody to check, or --where fits nobody, and when more
     are owed something, rejected or unclear than were checked or are held
  2  the call or the configuration is wrong
With --output, or in another format than a table, stderr says why it is not 0.

Examples:
  rollcall drift                                   everybody
  rollcall drift --sample 2000 --max-drift 0.5%    a check for cron or CI
  rollcall drift --format html --output drift.html a page to hand on
  rollcall drift --where 'plan in premium,trial'   some of them, by a column
                                                   that the mapping reads
  rollcall drift --from-ledger                     what workers and runs have
                                                   found and is open; no call
  rollcall drift --repair                          and put it right`

/** `rollcall drift`: whether the service agrees with the database, proved by looking. */
export const driftCommand: AddCommand = (program, io, exit) => {
  program
    .command('drift')
    .description('look whether the service agrees with your database, and report what does not')
    .option('-c, --config <file>', 'configuration file (default: rollcall.config.ts)')
    .option('--sample <customers>', 'look at so many, drawn at random')
    .option('--where <condition>', 'only customers for whom it holds; may be given again', gathered)
    .option('--rate <calls>', 'calls per second at most')
    .option('--restart', 'begin anew where the same command was stopped before')
    .option('--from-ledger', 'what is known by earlier looks; makes no call')
    .option('--max-drift <share>', 'tolerate so much, like 0.5%')
    .option('--repair', 'owe a sync to whoever differs')
    .option('--believe', 'that many users are not there is meant')
    .option('--why <text>', 'why; kept with your name')
    .option('--by <name>', 'who says so (default: the user of this system)')
    .option('--show-values', 'put into the report what the differing fields hold')
    .option('--format <format>', 'table, json, ndjson, csv or html (default: table)')
    .option('--output <file>', 'write the report there')
    .option('--json', 'the same as --format json')
    .addHelpText('after', EXAMPLES)
    .action(async (options: DriftFlags) => {
      const asked = readDriftAsked(options)
      const file = asked.output === null ? null : await checkOutput(io.cwd, asked.output)
      const report = await reportOf(io, asked, options.config)
      exit(await tell(io, { report, asked, file }))
    })
}

async function reportOf(io: Io, asked: DriftAsked, configFile: string | undefined): Promise<Report> {
  const config = await loadConfig(configFile, io.cwd)
  if (!asked.fromLedger) return await serviceReport(io, { config, asked, configFile })
  const { DATABASE_URL: url } = readEnv(io.env, { need: ['DATABASE_URL'] })
  return await withPool({ url, stop: io.stop }, async (pool) => {
    await checkMigrated(pool)
    return await ledgerReport(pool, { config, asked })
  })
}

type Telling = { readonly report: Report; readonly asked: DriftAsked; readonly file: string | null }

/** What is read by a program is given every key as it is. */
const UNCUT = Number.POSITIVE_INFINITY

/**
 * A file that an earlier run has written is worth more than a report that was stopped half way. Why a check has not
 * passed is said to whoever runs it, wherever the report goes.
 */
async function tell(io: Io, { report, asked, file }: Telling): Promise<ExitCode> {
  const code = exitFor(report)
  const stopped = report.outcome.kind === 'stopped'
  if (file === null) {
    const width = io.terminal ? io.screen?.columns : UNCUT
    for (const line of await linesOf(report, { format: asked.format, width })) io.out(line)
  } else if (!stopped) {
    await writeWhole(file, await linesOf(report, { format: asked.format, width: UNCUT }))
  }
  if (code !== 0 && (file !== null || asked.format !== 'table')) {
    const { text, more } = sayHeadline(report)
    for (const line of [`rollcall: ${text}`, ...more]) io.err(shown(line))
  }
  if (file !== null && stopped) io.err('No report is written.')
  const warning = warningOf(report)
  if (warning !== null) io.err(warning)
  return code
}

/** What workers and runs have found and is open, without a call: Postgres alone is asked. */
async function ledgerReport(
  pool: Pool,
  { config, asked }: { readonly config: Config; readonly asked: DriftAsked },
): Promise<Report> {
  const origin = await boundOrigin(pool)
  if (origin === null) throw new RollcallError('DRIFT_TOO_EARLY', ['no worker has run on this database yet'])
  const { periodMs } = config.reconcile
  const findings = await readOpenFound(pool)
  const { tally, ...known } = await readKnownOfAll(pool, findings, periodMs)
  const verification = await readVerification(pool, periodMs)
  const now = await readTime(pool)
  // What was told by others before, or since, can be believed all the same.
  const doubt = findings.length === 0 && verification.doubt !== null
  return {
    version: 1,
    writtenBy: VERSION,
    target: namedService(origin, config),
    startedAt: now,
    endedAt: now,
    options: optionsOf(asked),
    outcome: doubt ? { kind: 'not-credible', why: 'nobody-there' } : { kind: 'complete' },
    ...known,
    counts: tally,
    foundLater: null,
    estimate: null,
    coverage: coverageOf(verification, now),
    repair: null,
    trend: trendOf(await readPast(pool, null)),
    findings: findings.map((finding) => ({ ...finding, shown: [] })),
  }
}

/** Null where workers look at nobody: then there is no time within which they would. */
function coverageOf({ coverage }: VerificationReport, now: string): ReportCoverage | null {
  const { periodMs, customers, within, oldestAgeMs } = coverage
  if (periodMs === null) return null
  const oldest = oldestAgeMs === null ? null : new Date(Date.parse(now) - oldestAgeMs).toISOString()
  return { periodMs, share: customers === 0 ? 1 : within / customers, oldest }
}
