import { loadConfig } from '../config/load.ts'
import { renderHeadline } from '../report/render.ts'
import type { Report } from '../report/report.ts'
import { withDatabase } from './connect.ts'
import { addDriftOptions, type DriftAsked, readDriftAsked } from './drift-options.ts'
import { checkOutput, FORMS, writeWhole } from './drift-print.ts'
import { exitFor, ledgerReport, warningOf } from './drift-report.ts'
import { serviceReport } from './drift-run.ts'
import type { AddCommand, ExitCode, Io } from './io.ts'
import { shown } from './render.ts'

const EXAMPLES = `
Checks every customer by one GET, and one that differs by a second one; workers
may run meanwhile. It takes half of the common pace, or --rate. After Ctrl-C the
same command goes on where it stopped, within a day. The report holds no field's
value unless --show-values asks for them.

--sample checks so many at random, and says what that means for all customers.
--max-drift is compared with the share of those who were checked or are held; of
a sample, with its estimate. The report has the 95 % interval.

Customers that the brake holds are not checked, and count as drift: as undue
access if they would lose it, as lost access if they would get it. \`rollcall
held\` lists them. What a person has discarded is no drift; neither is status 0
where a trial has ended.

--repair owes customers that differ a sync, once the run as a whole is credible.
Above the brake's limit for repairs they wait for a person (\`rollcall held\`).

Where the service says that many users are not there, no single one is reported:
it is likelier the wrong service. --credible says for a day that it is meant; it
is kept with your name.

Exit codes:
  0  no drift, or no more than --max-drift
  3  drift is found
  1  it was stopped, it failed, or the answers are not credible; also when there
     is no customer to check, when --where fits none, and when more are owed
     something, rejected or unclear than were checked or are held
  2  the call or the configuration is wrong
With --output, or in another format than a table, stderr says why it is not 0.

Examples:
  rollcall drift                                   all customers
  rollcall drift --sample 2000 --max-drift 0.5%    a check for cron or CI
  rollcall drift --format html --output drift.html a page to hand on
  rollcall drift --where 'plan in premium,trial'   some of them, by a column
                                                   that the mapping reads
  rollcall drift --from-ledger                     what workers and runs have
                                                   found and is open; no call
  rollcall drift --repair                          and put it right`

export const driftCommand: AddCommand = (program, io, exit) => {
  addDriftOptions(program.command('drift'))
    .addHelpText('after', EXAMPLES)
    .action(async (options) => {
      const asked = readDriftAsked(options)
      const file = asked.output === null ? null : await checkOutput(io.cwd, asked.output)
      const config = await loadConfig(options.config, io.cwd)
      const report = asked.fromLedger
        ? await withDatabase(io, {}, (pool) => ledgerReport(pool, config, asked))
        : await serviceReport(io, { config, asked })
      exit(await print(io, report, asked, file))
    })
}

/** Output for a program has every key as it is. */
const UNCUT = Number.POSITIVE_INFINITY

/**
 * A file that an earlier run has written is worth more than a report that was stopped half way. Why a check has not
 * passed is said to the caller, wherever the report goes.
 */
async function print(io: Io, report: Report, { format }: DriftAsked, file: string | null): Promise<ExitCode> {
  const code = exitFor(report)
  const stopped = report.outcome.kind === 'stopped'
  if (file === null) {
    const width = io.terminal ? io.screen?.columns : UNCUT
    for (const line of await FORMS[format](report, width)) io.out(line)
  } else if (!stopped) {
    await writeWhole(file, await FORMS[format](report, UNCUT))
  }
  if (code !== 0 && (file !== null || format !== 'table')) {
    const { text, more } = renderHeadline(report)
    for (const line of [`rollcall: ${text}`, ...more]) io.err(shown(line))
  }
  if (file !== null && stopped) io.err('No report is written.')
  const warning = warningOf(report)
  if (warning !== null) io.err(warning)
  return code
}
