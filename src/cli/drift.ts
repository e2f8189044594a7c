import { loadConfig } from '../config/load.ts'
import { renderHeadline } from '../report/render.ts'
import type { Report } from '../report/report.ts'
import { withDatabase } from './connect.ts'
import { addDriftOptions, type DriftAsked, readDriftAsked } from './drift-options.ts'
import { checkOutput, FORMS, writeWhole } from './drift-print.ts'
import { exitFor, ledgerReport, warningOf } from './drift-report.ts'
import type { AddCommand, ExitCode, Io } from './io.ts'
import { withProgress } from './progress.ts'
import { shown } from './render.ts'

const EXAMPLES = `
Checks every user by one GET, and each user that differs by a second one.
Workers may run meanwhile. The command uses half of the rate limit, or --rate.
After Ctrl-C, run the same command again within a day: it continues where it
stopped. The report contains no value of a field unless you give --show-values.

The drift ratio is the share of customers that do not agree with the service.
--sample checks random customers. From them it estimates the drift ratio of all
customers, with a 95 % interval. Then --max-drift is compared with the estimate.

A customer that the brake holds is not checked, and always counts as drift.
\`rollcall held\` lists these customers. If the held change is about access, the
report counts the customer as "access undue" (has access, but should not) or
"access lost" (has none, but should).
A discarded change and an ended trial are no drift.

At the end of the run --repair requests a sync for each customer that differs.
If they are more than the brake allows, the brake holds those above its limit:
see \`rollcall held\`. --repair requests no sync if many users are missing, most
calls get no clear answer, or the service refuses the Api-Key.

If many users are missing, SERVICE_URL is probably wrong. The report then names
none of these users. If they are really missing, run the command again with
--credible: rollcall stores your name and reason. For 24 hours its reports then
name the missing users, and the users whose GET is answered with 2xx, but
without the user in the body.

Exit codes:
  0  no drift, or a drift ratio of at most --max-drift
  3  there is drift
  1  one of these:
     - the run stopped or failed
     - the answers are not credible: many users are missing, most answers are
       unclear, or the keys are refused
     - there is no customer to check, or most customers could not be checked:
       they are owed a sync, rejected, or without a clear answer
  2  the command line or the configuration is wrong
With --output, or with another format than table, stderr gives the reason for
every exit code but 0.

Examples:
  rollcall drift                                    all customers
  rollcall drift --sample 2000 --max-drift 0.5%     a check for cron or CI
  rollcall drift --format html --output drift.html  a page for a manager
  rollcall drift --where 'plan in premium,trial'    some customers`

export const driftCommand: AddCommand = (program, io, exit) => {
  addDriftOptions(program.command('drift'))
    .addHelpText('after', EXAMPLES)
    .action(async (options) => {
      const asked = readDriftAsked(options)
      const file = asked.output === null ? null : await checkOutput(io.cwd, asked.output)
      const config = await loadConfig(options.config, io.cwd)
      const report = asked.fromLedger
        ? await withDatabase(io, {}, (pool) => ledgerReport(pool, config, asked))
        : await withProgress(io, async (io, progress) => {
            const { serviceReport } = await import('./drift-run.ts')
            return await serviceReport(io, { config, asked, progress })
          })
      exit(await print(io, report, asked, file))
    })
}

/**
 * A file that an earlier run has written is worth more than a report that was stopped half way. Why a check has not
 * passed is said to the caller, wherever the report goes.
 */
async function print(io: Io, report: Report, { format }: DriftAsked, file: string | null): Promise<ExitCode> {
  const code = exitFor(report)
  const stopped = report.outcome.kind === 'stopped'
  if (file === null) {
    for (const line of await FORMS[format](report)) io.out(line)
  } else if (!stopped) {
    await writeWhole(file, await FORMS[format](report))
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
