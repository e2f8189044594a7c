import type { Config } from '../config/config.ts'
import { loadConfig } from '../config/load.ts'
import { addBackfillOptions, type BackfillAsked, fitsNone, readBackfillAsked } from './backfill-asked.ts'
import { NONE_FITS, renderBackfill, renderForecast, unsettledOf } from './backfill-view.ts'
import type { AddCommand, ExitCode, Io } from './io.ts'
import { withProgress } from './progress.ts'
import { tell } from './render.ts'

const EXAMPLES = `
Examples:
  rollcall backfill --dry-run --sample 5             print the calls
  rollcall backfill --expect-creates 190000 --wait   sync, and wait for the end
  rollcall backfill --where plan=premium --where 'premium_until is not null'
  rollcall backfill --mapping                        apply a changed mapping

--where compares a column that the mapping, the scope or the key reads. It knows
=, !=, <, <=, >, >=, "in a,b", "is null" and "is not null". Quote it for your
shell. Several conditions must all be true. After Ctrl-C, run the same command
again: it continues where it stopped. The summary of --wait covers all
customers, also with --where or --only.

Exit codes:
  0  the syncs are requested, and workers make them. With --wait: they are made,
     and no customer is rejected, failing or held. With --dry-run: there is
     nothing to do
  3  with --wait: a customer is rejected, failing or held (also one outside of
     --where); with --dry-run: there is something to do
  1  it failed or was stopped, or no customer fits --where
  2  the command line, the configuration or the environment is wrong`

export const backfillCommand: AddCommand = (program, io, exit) => {
  const command = addBackfillOptions(program.command('backfill')).addHelpText('after', EXAMPLES)
  command.action(async (flags) => {
    const asked = readBackfillAsked(flags)
    const config = await loadConfig(flags.config, io.cwd)
    const report = await backfill(io, config, asked)
    if (asked.json && fitsNone(report, asked)) io.err(`rollcall: ${NONE_FITS}`)
    tell(io, asked.json, report, () =>
      report.dryRun ? renderForecast(report, asked) : renderBackfill(report, asked),
    )
    exit(exitCodeOf(report, asked))
  })
}

type Reported = Awaited<ReturnType<typeof backfill>>

async function backfill(io: Io, config: Config, asked: BackfillAsked) {
  return await withProgress(io, async (io, progress) => {
    if (!asked.dryRun)
      return await (await import('./backfill-run.ts')).runBackfill(io, { config, asked, progress })
    return await (await import('./backfill-dry-run.ts')).forecastBackfill(io, { config, asked, progress })
  })
}

function exitCodeOf(report: Reported, asked: BackfillAsked): ExitCode {
  const { differs, unreadable } = report.verdicts
  if (!report.ended || fitsNone(report, asked)) return 1
  if (report.dryRun) return differs + unreadable > 0 || (asked.mapping && !report.current) ? 3 : 0
  const { waited } = report
  if (waited?.ended === false) return 1
  return waited && waited.open + unsettledOf(waited, unreadable) > 0 ? 3 : 0
}
