import { loadConfig } from '../config/load.ts'
import type { Explanation } from '../explain/explain.ts'
import { explainAll } from './explained.ts'
import type { AddCommand, ExitCode } from './io.ts'
import { CONFIG_OPTION } from './option-values.ts'
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
  program
    .command('sync')
    .option(...CONFIG_OPTION)
    .option('--dry-run', 'make no call and write nothing')
    .addOption(
      program.createOption('--lookup', 'ignore the ledger: read the user by GET first').conflicts('dryRun'),
    )
    .option('--removed', 'confirm that the key was a customer, if rollcall has no record of it')
    .option('--json', 'print the steps as JSON')
    .argument('<key...>', 'customer keys')
    .addHelpText('after', EXAMPLES)
    .action(async (keys, options) => {
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
