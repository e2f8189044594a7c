import { readInstalled } from '../capture/catalog.ts'
import { openMarks } from '../capture/marks.ts'
import { planCapture } from '../capture/relations.ts'
import { captureDifference, captureStatus } from '../capture/status.ts'
import { readEnv } from '../config/env.ts'
import { loadConfig } from '../config/load.ts'
import { checkMigrated } from '../ledger/migrate.ts'
import { type Overview, readOverview } from '../ledger/overview.ts'
import { withPool } from './connect.ts'
import type { AddCommand } from './io.ts'
import { asJson } from './json.ts'
import { type Status, sayOverview } from './say-status.ts'

type Options = { readonly config?: string; readonly json?: boolean }

const EXAMPLES = `
Examples:
  rollcall status          what is owed, what fails and why, whether capture fits
  rollcall status --json   the same for a monitor; exit 3 when something needs a person`

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
      const { DATABASE_URL: url } = readEnv(io.env, { need: ['DATABASE_URL'] })
      const status = await withPool(url, async (pool) => {
        await checkMigrated(pool)
        const overview = await readOverview(pool)
        const difference = captureDifference(await planCapture(pool, config), await readInstalled(pool))
        const capture = { tables: captureStatus(difference), marks: await openMarks(pool) }
        return { overview, capture, attention: needsPerson(overview, capture) }
      })
      if (options.json) io.out(asJson({ environment: config.service.environment, ...status }))
      else for (const line of sayOverview(status, config)) io.out(line)
      exit(status.attention.length > 0 ? 3 : 0)
    })
}

/** What does not get right by waiting. */
export function needsPerson({ states }: Overview, { tables, marks }: Status['capture']): string[] {
  const unfit = tables.filter(({ state }) => state !== 'fits').length
  return [
    ...(states.rejected > 0 ? [`${states.rejected} customers are rejected`] : []),
    ...(states.failing > 0 ? [`${states.failing} customers fail and are tried again`] : []),
    ...(unfit > 0
      ? [`${unfit} watched tables are not captured as configured: run \`rollcall capture install\``]
      : []),
    ...marks.map((mark) =>
      mark.kind === 'truncate'
        ? `${mark.relation} was truncated and nobody was revoked for it: run \`rollcall capture resync\``
        : `capture of ${mark.relation} has a gap; a running worker looks at everybody again`,
    ),
  ]
}
