import { type Command, Option } from 'commander'
import pg from 'pg'
import { readEnv } from '../config/env.ts'
import { loadConfig } from '../config/load.ts'
import { connectOne, type DatabaseAddress, roleOf } from '../database/session.ts'
import { migrate } from '../ledger/migrate.ts'
import { reachable } from '../ledger/reachable.ts'
import { RollcallError } from '../model/errors.ts'
import { BINDING_ENV, bindingStatus, warnOfBinding } from './binding.ts'
import { ownerIn } from './connect.ts'
import type { AddCommand, Io } from './io.ts'
import { asJson } from './json.ts'
import { type Accepting, accept } from './migrate-target.ts'
import { numberOf, wholeNumber } from './option-values.ts'
import { acceptedJson, sayAccepted } from './say-migrate.ts'

type Options = {
  readonly target?: 'same' | 'new'
  readonly expectCreates?: string
  readonly config?: string
  readonly json?: boolean
}

const EXAMPLES = `
Examples:
  rollcall migrate                 create or update rollcall's tables, and the
                                   queue's when it is on Postgres
  rollcall migrate --target same   the key was rotated, the database moved or a
                                   standby was promoted, and nothing was lost
  rollcall migrate --target new    it is another service, or the database went
                                   back in time: every user is looked up
  rollcall migrate --target new --expect-creates 12000
                                   up to 12000 of them are to be registered

--target reads the configuration. docs/restoring.md says which one to take after
a restore.`

/** `rollcall migrate`: a release step, safe to run at every deployment and from several machines at once. */
export const migrateCommand: AddCommand = (program, io) => {
  addOptions(program.command('migrate')).action(async (options: Options) => {
    const accepting = await readAccepting(io, options)
    const env = readEnv(io.env, {
      need: ['DATABASE_URL'],
      may: ['MIGRATE_DATABASE_URL', 'QUEUE_URL', ...BINDING_ENV],
    })
    const owner = await ownerIn(env)
    const queue = queueIn(env, owner)
    const { applied } = await migrate(owner, queue ? { queue } : {})
    const { accepted, binding } = await onSession(owner, async (client) => ({
      accepted: accepting && (await accept(client, accepting)),
      binding: await bindingStatus(client, env),
    }))
    warnOfBinding(io, binding)
    if (options.json) return io.out(asJson({ applied, ...acceptedJson(accepted), binding }))
    io.out(applied === 0 ? 'rollcall is up to date.' : `rollcall is migrated (${applied} applied).`)
    if (accepted) for (const line of sayAccepted(accepted)) io.out(line)
  })
}

function addOptions(command: Command): Command {
  return command
    .description("create or update rollcall's own tables (schema rollcall) and the queue's")
    .addOption(
      new Option('--target <which>', 'say what a changed service, key or database is').choices([
        'same',
        'new',
      ]),
    )
    .option('--expect-creates <n>', 'so many registrations pass the brake (with --target new)')
    .option('-c, --config <file>', 'configuration file (default: rollcall.config.ts)')
    .option('--json', 'print the outcome as JSON')
    .addHelpText('after', EXAMPLES)
}

/** Null without --target. What is wrong is told before anything is changed. */
async function readAccepting(io: Io, { target: as, ...options }: Options): Promise<Accepting | null> {
  const problems: string[] = []
  const expectCreates = numberOf(options.expectCreates, wholeNumber('--expect-creates'), problems)
  if (options.expectCreates !== undefined && as !== 'new')
    problems.push('--expect-creates: only with --target new')
  if (problems.length > 0) throw new RollcallError('USAGE', problems)
  if (as === undefined) return null
  const config = await loadConfig(options.config, io.cwd)
  const env = readEnv(io.env, { need: ['DATABASE_URL', ...BINDING_ENV] })
  const target = {
    origin: env.SERVICE_URL,
    apiKey: env.SERVICE_API_KEY,
    digestKey: env.ROLLCALL_DIGEST_KEY,
  }
  return { as, config, expectCreates, target }
}

/** A queue in the same database is made by the same role. Null: the queue is in Redis, or nobody says where. */
function queueIn({ DATABASE_URL, QUEUE_URL: url }: Env, owner: DatabaseAddress): DatabaseAddress | null {
  if (url === undefined || !/^postgres(ql)?:/.test(url)) return null
  const isHere = [DATABASE_URL, owner.url].some((other) => placeOf(other) === placeOf(url))
  return isHere ? owner : { url, variable: 'QUEUE_URL' }
}

type Env = { readonly DATABASE_URL: string; readonly QUEUE_URL?: string }

function placeOf(url: string): string {
  const { host, port, database } = new pg.Client({ connectionString: url })
  return JSON.stringify([host, port, database])
}

/** Of its own: what is forgotten of many customers takes longer than a statement of a worker may. */
async function onSession<T>(owner: DatabaseAddress, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connectOne(owner, { application_name: 'rollcall migrate' })
  try {
    return await reachable(() => use(client), { role: roleOf(owner) })
  } finally {
    await client.end()
  }
}
