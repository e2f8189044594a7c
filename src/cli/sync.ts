import { Option } from 'commander'
import type { Config } from '../config/config.ts'
import { readEnv } from '../config/env.ts'
import { loadConfig } from '../config/load.ts'
import { describeCustomers } from '../customers/describe.ts'
import { makeReadCustomers } from '../customers/read.ts'
import { readStandingIfAny } from '../ledger/generation.ts'
import { RollcallError } from '../model/errors.ts'
import { makeDryRun } from '../worker/dry-run.ts'
import { withPool } from './connect.ts'
import { exitForResults, explainAll } from './explained.ts'
import { history } from './history.ts'
import type { AddCommand, ExitCode, Io } from './io.ts'
import { checkPresent, namedKeys } from './named.ts'
import { asJson, labelled, shown } from './render.ts'
import { sayMapped, sayPlan } from './say-step.ts'
import { redacted, untilOf } from './sync-json.ts'
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

type Asked = {
  readonly config: Config
  /** As typed. */
  readonly keys: readonly string[]
  readonly removed: boolean
  readonly json: boolean
}

/** `rollcall sync --dry-run`: what a sync would do, without a call and without a write. */
export async function dryRun(io: Io, { config, keys: given, removed, json }: Asked): Promise<ExitCode> {
  const env = readEnv(io.env, { need: ['DATABASE_URL'], may: ['ROLLCALL_DIGEST_KEY'] })
  return await withPool({ url: env.DATABASE_URL, stop: io.stop }, async (pool) => {
    const shape = await describeCustomers(pool, config)
    const keys = await namedKeys({ io, pool, shape, keys: given })
    await checkPresent({ pool, found: await makeReadCustomers(config, shape)(pool, keys), removed })
    const run = await makeDryRun({ pool, config, shape, digestKey: env.ROLLCALL_DIGEST_KEY })
    const mappingCurrent = (await readStandingIfAny(pool, config.fingerprint))?.current ?? null
    const results = []
    for (const key of keys) {
      const result = await run(key)
      results.push({ key, ...result, mappingCurrent })
      if (json) continue
      io.out(`customer ${shown(key)} (dry run)`)
      for (const text of sayMapped(result.mapped)) io.out(text)
      io.out(labelled('plan', sayPlan(result.plan)))
      if (result.withoutLedger)
        io.out(
          labelled(
            'note',
            'planned as if nothing had been sent before: no ledger, or no ROLLCALL_DIGEST_KEY',
          ),
        )
      if (mappingCurrent === false)
        io.out(
          labelled('note', 'this mapping is not applied: nothing is sent by it before `backfill --mapping`'),
        )
    }
    if (json)
      io.out(
        asJson(
          results.map(({ mapped, ...shown }) => ({
            ...shown,
            ...untilOf(mapped),
            plan: redacted(shown.plan),
          })),
        ),
      )
    return results.some(({ plan }) => plan.kind === 'reject') ? 3 : 0
  })
}
