import { Option } from 'commander'
import pg from 'pg'
import { readEnv } from '../config/env.ts'
import { migrate } from '../ledger/migrate.ts'
import { acceptTarget } from '../ledger/target.ts'
import type { AddCommand } from './io.ts'
import { asJson } from './json.ts'

type Options = { readonly target?: 'same' | 'new'; readonly json?: boolean }

const EXAMPLES = `
Examples:
  rollcall migrate                 create or update rollcall's tables, and the
                                   queue's when it is on Postgres
  rollcall migrate --target same   the key was rotated or the database moved: it
                                   is the same service
  rollcall migrate --target new    it is another service: what was known of
                                   every user is forgotten`

/** `rollcall migrate`: a release step, safe to run at every deployment and from several machines at once. */
export const migrateCommand: AddCommand = (program, io) => {
  program
    .command('migrate')
    .description("create or update rollcall's own tables (schema rollcall) and the queue's")
    .addOption(
      new Option('--target <which>', 'say what a changed service, key or database is').choices([
        'same',
        'new',
      ]),
    )
    .option('--json', 'print the outcome as JSON')
    .addHelpText('after', EXAMPLES)
    .action(async ({ target, json }: Options) => {
      const env = readEnv(io.env, { need: ['DATABASE_URL'], may: ['MIGRATE_DATABASE_URL', 'QUEUE_URL'] })
      const url = env.MIGRATE_DATABASE_URL ?? env.DATABASE_URL
      const { applied } = await migrate(url, env.QUEUE_URL ? { queueUrl: env.QUEUE_URL } : {})
      if (target) await accept(io.env, url, target)
      if (json) io.out(asJson({ applied, target: target ?? null }))
      else {
        io.out(applied === 0 ? 'rollcall is up to date.' : `rollcall is migrated (${applied} applied).`)
        if (target)
          io.out(
            target === 'same'
              ? 'Bound to the present service; all records kept.'
              : 'Bound to the present service; every user is looked at again.',
          )
      }
    })
}

async function accept(environment: NodeJS.ProcessEnv, url: string, as: 'same' | 'new'): Promise<void> {
  const env = readEnv(environment, { need: ['SERVICE_URL', 'SERVICE_API_KEY', 'ROLLCALL_DIGEST_KEY'] })
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const target = {
      origin: env.SERVICE_URL,
      apiKey: env.SERVICE_API_KEY,
      digestKey: env.ROLLCALL_DIGEST_KEY,
    }
    await acceptTarget(client, target, as)
  } finally {
    await client.end()
  }
}
