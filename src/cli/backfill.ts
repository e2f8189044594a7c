import { type Command, Option } from 'commander'
import { loadConfig } from '../config/load.ts'
import { type BackfillFlags, readBackfillAsked } from './backfill-asked.ts'
import { foretell } from './backfill-dry-run.ts'
import { runBackfill } from './backfill-run.ts'
import type { AddCommand } from './io.ts'
import { gathered } from './option-values.ts'
import { keepHeapSmall } from './small-heap.ts'

const EXAMPLES = `
Examples:
  rollcall backfill --dry-run --sample 5     what would be sent, before anything
                                             is; needs to read customers only
  rollcall backfill --expect-creates 190000 --wait
                                             bring in everybody, and tell when
                                             they are settled
  rollcall backfill --where plan=premium --where 'premium_until is not null'
  rollcall backfill --mapping                apply a changed mapping

--where compares a column that the mapping or the key reads, by =, !=, <, <=, >,
>=, "in a,b", "is null" or "is not null" (in quotes for your shell); all that
are given have to hold. Ctrl-C ends it after a page; the same command goes on.
What --wait tells at the end is of everybody, also with --where or --only.

Exit 0 all done, or for a dry run nothing to do; 3 something to do, or somebody
who is not settled; 1 it failed or was stopped, or --where holds for nobody.`

/** `rollcall backfill`: everybody is looked at, and whoever differs is owed a sync. */
export const backfillCommand: AddCommand = (program, io, exit) => {
  const command = program
    .command('backfill')
    .description('bring in the customers that you have, and sync whoever differs')
    .option('-c, --config <file>', 'configuration file (default: rollcall.config.ts)')
    .option('--dry-run', 'make no call and write nothing: tell what would follow')
  addSelection(command)
  command
    .addOption(onlyDry('--sample <n>', 'show so many of the plans, chosen at random'))
    .option('--rate <n>', 'owe no more than so many calls per second')
    .option('--expect-creates <n>', 'so many registrations pass the brake')
    .addOption(onlyReal('--restart', 'begin anew, not where the last one stopped'))
    .addOption(onlyReal('--wait', 'wait until all is settled, and tell what is not'))
    .addOption(mapping())
    .option('--json', 'print the outcome as JSON')
    .addHelpText('after', EXAMPLES)
    .action(async (options: BackfillFlags) => {
      keepHeapSmall()
      const asked = readBackfillAsked(options)
      const config = await loadConfig(options.config, io.cwd)
      exit(await (asked.dryRun ? foretell(io, config, asked) : runBackfill(io, config, asked)))
    })
}

function addSelection(command: Command): void {
  command
    .option('--where <condition>', 'only customers for whom this holds', gathered)
    .addOption(
      new Option('--only <what>', 'only those whom this is for').choices(['create', 'update', 'revoke']),
    )
    .option('--lookup', 'look (GET) before anybody is registered')
}

/** It is for everybody, and a worker goes on with it. */
function mapping(): Option {
  const without = ['where', 'only', 'lookup', 'restart', 'rate', 'expectCreates']
  return new Option('--mapping', 'apply the mapping of this configuration to all').conflicts(without)
}

function onlyReal(flags: string, description: string): Option {
  return new Option(flags, description).conflicts('dryRun')
}

function onlyDry(flags: string, description: string): Option {
  return new Option(flags, `${description} (with --dry-run)`)
}
