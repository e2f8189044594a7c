import { loadConfig } from '../config/load.ts'
import type { Explanation } from '../explain/explain.ts'
import { type History, readHistory } from '../ledger/history.ts'
import type { CustomerKey } from '../model/customer.ts'
import { withDatabase } from './connect.ts'
import { explainAll } from './explained.ts'
import type { AddCommand, ExitCode, Io } from './io.ts'
import { knownSpelling } from './named.ts'
import { CONFIG_OPTION, readLimit, usage } from './option-values.ts'
import { tell } from './render.ts'
import { renderStored } from './render-history.ts'
import { syncNow } from './sync-now.ts'

const EXAMPLES = `
A key is converted to the type of its column: for an integer column 04711 means
4711. A key without a row and without a record in rollcall may be mistyped. For
such a key the command does nothing, and ends with exit code 2. If the row of
this customer was deleted, add --removed.

Examples:
  rollcall sync 4711              sync this customer now and print every step
  rollcall sync 4711 --lookup     read the user by GET first, and repair
                                  edits of other systems
  rollcall sync '["ES", "4711"]'  a customer with two key columns`

export const syncCommand: AddCommand = (program, io, exit) => {
  const view = <Flags extends string>(flags: Flags, description: string, ...excluded: string[]) =>
    program.createOption(flags, description).conflicts(excluded)
  program
    .command('sync')
    .option(...CONFIG_OPTION)
    .option('--dry-run', 'make no call and write nothing')
    .addOption(view('--lookup', 'ignore the ledger: read the user by GET first', 'dryRun'))
    .addOption(
      view('--removed', 'for a deleted row without a record: confirm that the key was a customer', 'history'),
    )
    .addOption(
      view(
        '--history',
        'only print the stored state of the customers, and their last calls',
        'dryRun',
        'lookup',
      ),
    )
    .option('--limit <calls>', 'with --history: show at most this many calls (default: 50)')
    .option('--json', 'print the steps as JSON')
    .argument('<key...>', 'customer keys')
    .addHelpText('after', EXAMPLES)
    .action(async (keys, options) => {
      if (options.limit !== undefined && !options.history)
        throw usage('--limit: only together with --history')
      if (options.history) return exit(await history(io, keys, options))
      const config = await loadConfig(options.config, io.cwd)
      const asked = { ...options, config, keys }
      if (options.dryRun)
        return exit(await explainAll(io, { ...asked, view: 'dry-run', call: false }, exitForPlans))
      exit(await syncNow(io, asked))
    })
}

/** 3: a customer cannot be sent as it is; 1: its row could not be read. */
function exitForPlans({ explanations }: { readonly explanations: readonly Explanation[] }): ExitCode {
  if (explanations.some(({ plan }) => plan === null)) return 1
  return explanations.some(({ plan }) => plan?.kind === 'reject') ? 3 : 0
}

/**
 * Shows what Postgres holds of these customers and their last calls; no call, no write. 3 when one of them is known nowhere:
 * a script that asks about a mistyped key must not take it for a customer who is well.
 */
async function history(
  io: Io,
  keys: readonly string[],
  { limit = '50', json = false }: { readonly limit?: string; readonly json?: boolean },
): Promise<ExitCode> {
  const most = readLimit(limit)
  return await withDatabase(io, {}, async (pool) => {
    const found: { key: CustomerKey; history: History }[] = []
    for (const key of await knownSpelling(pool, keys))
      found.push({ key, history: await readHistory(pool, key, most) })
    tell(io, json, found, () =>
      found.flatMap((each, index) => [...(index > 0 ? [''] : []), ...renderStored(each.history, each.key)]),
    )
    return found.some((each) => each.history === null) ? 3 : 0
  })
}
