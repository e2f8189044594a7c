import { readEnv } from '../config/env.ts'
import { readErasures } from '../ledger/erasures.ts'
import { checkMigrated } from '../ledger/migrate.ts'
import { RollcallError } from '../model/errors.ts'
import { withPool } from './connect.ts'
import type { AddCommand } from './io.ts'
import { asJson } from './json.ts'
import { readLimit } from './limit.ts'
import { asReceipt, sayErasures } from './say-erasures.ts'
import { shown } from './shown.ts'

type Options = { readonly json?: boolean; readonly limit?: string }

const RECEIPTS = 50

const EXAMPLES = `
With onRemove: 'erase', whoever's row is gone first loses access, and then every
optional field at the service is cleared. Each such call that the service
acknowledged is a receipt here. It reads DATABASE_URL alone, and no
configuration.

Examples:
  rollcall erasures                 the last ${RECEIPTS}, the latest first
  rollcall erasures 4711            what was erased of this customer
  rollcall erasures --json --limit 1000`

/** `rollcall erasures`: the receipts of what was erased at the service. */
export const erasuresCommand: AddCommand = (program, io, exit) => {
  program
    .command('erasures')
    .argument('[key...]', 'customers, by their key')
    .description('show what was erased at the service, when, and whether a look has shown it')
    .option('--limit <n>', `at most so many (default: ${RECEIPTS})`)
    .option('--json', 'print it as JSON')
    .addHelpText('after', EXAMPLES)
    .action(async (keys: readonly string[], { json = false, limit }: Options) => {
      const most = limit === undefined ? RECEIPTS : readLimit(limit)
      const { DATABASE_URL: url } = readEnv(io.env, { need: ['DATABASE_URL'] })
      await withPool({ url, stop: io.stop }, async (pool) => {
        await checkMigrated(pool)
        const { receipts, unknown } = await readErasures(pool, { keys, limit: most })
        if (unknown.length > 0)
          throw new RollcallError('USAGE', [`nothing is known of customer ${unknown.map(shown).join(', ')}`])
        if (json) io.out(asJson(receipts.map(asReceipt)))
        else for (const text of sayErasures(receipts, keys)) io.out(text)
      })
      exit(0)
    })
}
