import type { Command } from 'commander'
import type { ClientBase, Pool } from 'pg'
import { readInstalled } from '../capture/catalog.ts'
import { install, uninstall } from '../capture/install.ts'
import { openMarks } from '../capture/marks.ts'
import { printSql } from '../capture/print.ts'
import { planCapture } from '../capture/relations.ts'
import { sayMarks, sayStatus } from '../capture/say.ts'
import { captureDifference, captureStatus } from '../capture/status.ts'
import { readEnv } from '../config/env.ts'
import { loadConfig } from '../config/load.ts'
import { describeCustomers } from '../customers/describe.ts'
import { type DatabaseAddress, databaseAt } from '../database/session.ts'
import { readStanding } from '../ledger/generation.ts'
import { checkMigrated } from '../ledger/migrate.ts'
import { BINDING_ENV, bindingStatus, warnOfBinding } from './binding.ts'
import { ownerIn, withPool } from './connect.ts'
import type { AddCommand, ExitCode, Io } from './io.ts'
import { asJson } from './render.ts'
import { type Resync, resync } from './resync.ts'

type Options = {
  readonly config?: string
  readonly json?: boolean
  readonly print?: boolean
}

const EXAMPLES = `
Examples:
  rollcall capture install           write the triggers; safe to repeat, takes
                                     no lock where nothing differs
  rollcall capture install --print   print the SQL for a DBA instead
  rollcall capture status            say whether the triggers still fit the
                                     configuration (exit 3 when not)
  rollcall capture resync            after a TRUNCATE or a gap: look at every
                                     customer again
  rollcall capture uninstall         remove every trigger and function`

const OTHERS_STAY =
  'Another mapping is in force: what it reads stays watched. Once this one is applied (`rollcall backfill --mapping`), run this again.'

/** `rollcall capture`: the triggers on the watched tables. */
export const captureCommand: AddCommand = (program, io, exit) => {
  const capture = program
    .command('capture')
    .description('install, check or remove the triggers that notice changes')
    .addHelpText('after', EXAMPLES)
  sub(capture, 'install', 'write the triggers on the watched tables')
    .option('--print', 'print the SQL instead of running it')
    .action(async (options: Options) => {
      const config = await loadConfig(options.config, io.cwd)
      const env = readEnv(io.env, { need: [], may: BINDING_ENV })
      await withSession(await owner(io), async (client) => {
        const plan = await planCapture(client, config)
        if (options.print) return io.out(printSql(plan))
        await checkMigrated(client)
        for (const warning of (await describeCustomers(client, config)).warnings)
          io.err(`warning: ${warning}`)
        const standing = await readStanding(client, config.fingerprint)
        const leavesOthers = standing !== null && !standing.current
        const changed = await install(client, plan, { leavesOthers })
        const binding = await bindingStatus(client, env)
        warnOfBinding(io, binding)
        if (options.json) io.out(asJson({ changed, binding }))
        else if (changed.length === 0) io.out('Nothing to change: every watched table is captured.')
        else {
          io.out(`Captured from now on: ${changed.join(', ')}`)
          io.out(
            'Who is there already is not noted by this: `rollcall backfill --dry-run` tells who would be brought in, and `rollcall backfill` does it.',
          )
        }
        if (leavesOthers && !options.json) io.out(OTHERS_STAY)
      })
    })
  sub(capture, 'uninstall', 'remove every trigger and function of rollcall').action(
    async ({ json }: Options) => {
      const changed = await withSession(await owner(io), (client) => uninstall(client))
      if (json) io.out(asJson({ changed }))
      else
        io.out(
          changed.length > 0
            ? `No longer captured: ${changed.join(', ')}`
            : 'There was no trigger of rollcall.',
        )
    },
  )
  sub(capture, 'status', 'say whether the triggers fit the configuration').action(
    async (options: Options) => {
      exit(await showStatus(io, options))
    },
  )
  sub(capture, 'resync', 'look at every customer and every record again')
    .option('--dismiss', 'close the marks without looking at anybody')
    .action(async (options: Resync) => exit(await resync(io, options)))
}

function sub(capture: Command, name: string, description: string): Command {
  return capture
    .command(name)
    .description(description)
    .option('-c, --config <file>', 'configuration file (default: rollcall.config.ts)')
    .option('--json', 'print the outcome as JSON')
    .addHelpText('after', `\nExample:\n  rollcall capture ${name}`)
}

async function showStatus(io: Io, { config, json }: Options): Promise<ExitCode> {
  const resolved = await loadConfig(config, io.cwd)
  const { tables, marks } = await withSession(database(io), async (client) => {
    await checkMigrated(client)
    const difference = captureDifference(await planCapture(client, resolved), await readInstalled(client))
    return { tables: captureStatus(difference), marks: await openMarks(client) }
  })
  if (json) io.out(asJson({ tables, marks }))
  else for (const line of [...sayStatus(tables), ...sayMarks(marks)]) io.out(line)
  return tables.every(({ state }) => state === 'fits') && marks.length === 0 ? 0 : 3
}

function database(io: Io): DatabaseAddress {
  return databaseAt(readEnv(io.env, { need: ['DATABASE_URL'] }).DATABASE_URL)
}

function owner(io: Io): Promise<DatabaseAddress> {
  return ownerIn(readEnv(io.env, { need: ['DATABASE_URL'], may: ['MIGRATE_DATABASE_URL'] }))
}

function withSession<T>(address: DatabaseAddress, work: (client: ClientBase) => Promise<T>): Promise<T> {
  return withPool(address, async (pool: Pool) => {
    const client = await pool.connect()
    try {
      return await work(client)
    } finally {
      client.release(true)
    }
  })
}
