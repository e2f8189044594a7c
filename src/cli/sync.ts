import { Option } from 'commander'
import { loadConfig } from '../config/load.ts'
import { RollcallError } from '../model/errors.ts'
import { dryRun } from './dry-run.ts'
import { exitForResults, explainAll } from './explained.ts'
import { history } from './history.ts'
import type { AddCommand } from './io.ts'
import { syncNow } from './sync-now.ts'

type Options = {
  readonly config?: string
  readonly dryRun?: boolean
  readonly look?: boolean
  readonly removed?: boolean
  readonly diff?: boolean
  readonly showValues?: boolean
  readonly history?: boolean
  readonly limit?: string
  readonly json?: boolean
}

const EXAMPLES = `
Keys are read as their columns read them: 04711 is the integer 4711. A key that
has no row, and of which nothing is known, is taken for a typing error: nothing
is done, and the exit code is 2. --removed says that it was a customer.

Examples:
  rollcall sync 4711              sync this customer now and tell every step
  rollcall sync 4711 --look       look at the service first, and put right what
                                  somebody changed there
  rollcall sync 4711 --dry-run    only tell what would be done: no call, no
                                  write, and nothing needs to be installed
  rollcall sync 4711 --diff       compare field by field with the service (one
                                  GET); nothing is changed
  rollcall sync 4711 --history    show what is stored of it and its last calls;
                                  no call, no write
  rollcall sync 4711 --removed    the row is gone, and rollcall never knew of it
  rollcall sync '["ES", "4711"]'  a customer with two key columns`

/** `rollcall sync <key…>`: one customer now, each step told. */
export const syncCommand: AddCommand = (program, io, exit) => {
  program
    .command('sync')
    .description('sync customers now and tell every step')
    .argument('<key...>', 'customer keys')
    .option('-c, --config <file>', 'configuration file (default: rollcall.config.ts)')
    .option('--dry-run', 'make no call and write nothing')
    .addOption(
      new Option('--look', 'rely on nothing that is remembered: look at the service first').conflicts(
        'dryRun',
      ),
    )
    .addOption(
      new Option('--removed', 'a key that nobody has was a customer, whose row is gone').conflicts([
        'diff',
        'history',
      ]),
    )
    .addOption(
      new Option('--diff', 'compare with the service, field by field; change nothing').conflicts([
        'dryRun',
        'look',
        'history',
      ]),
    )
    .option('--show-values', 'with --diff: show what the fields hold')
    .addOption(
      new Option('--history', 'only show what is stored of it, and its last calls').conflicts([
        'dryRun',
        'look',
        'diff',
      ]),
    )
    .option('--limit <calls>', 'with --history: show this many calls at most (default: 50)')
    .option('--json', 'print the steps as JSON')
    .addHelpText('after', EXAMPLES)
    .action(async (keys: string[], options: Options) => {
      if (options.showValues && !options.diff)
        throw new RollcallError('USAGE', ['--show-values: only together with --diff'])
      if (options.limit !== undefined && !options.history)
        throw new RollcallError('USAGE', ['--limit: only together with --history'])
      const { json = false, showValues = false, removed = false, limit } = options
      if (options.history) return exit(await history(io, { keys, limit, json }))
      const config = await loadConfig(options.config, io.cwd)
      if (options.diff) {
        const told = await explainAll(io, {
          config,
          keys,
          call: true,
          calls: 0,
          showValues,
          json,
          view: 'diff',
        })
        return exit(told === null ? 1 : exitForResults(told.explanations))
      }
      if (options.dryRun) return exit(await dryRun(io, { config, keys, removed, json }))
      exit(await syncNow(io, { config, keys, look: options.look === true, removed, json }))
    })
}
