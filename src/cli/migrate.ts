import pg, { type ClientBase } from 'pg'
import { limitOf } from '../brake/brake.ts'
import { setExpected } from '../brake/expected.ts'
import { forecastBrake } from '../brake/forecast.ts'
import type { Config } from '../config/config.ts'
import { readEnv } from '../config/env.ts'
import { loadConfig } from '../config/load.ts'
import type { DatabaseAddress } from '../database/session.ts'
import { aborting } from '../explain/in-time.ts'
import { acceptTarget } from '../ledger/accept.ts'
import { migrate, onSession } from '../ledger/migrate.ts'
import { boundOrigin, type Target } from '../ledger/target.ts'
import { renderService } from '../model/service.ts'
import { readPace } from '../pace/read.ts'
import { counted, figure, renderRate } from '../report/figures.ts'
import { namedService } from '../service/address.ts'
import { renderExpected } from './backfill-view.ts'
import { BINDING_ENV, bindingStatus, renderBinding } from './binding.ts'
import { ownerIn } from './connect.ts'
import type { AddCommand } from './io.ts'
import { CONFIG_OPTION, JSON_OPTION, usage, wholeNumber } from './option-values.ts'
import { applying, definitions, type Labelled, span, tell, warn } from './render.ts'

type Accepted = Awaited<ReturnType<typeof accept>> | typeof NOTHING_ACCEPTED
type Follows = NonNullable<Accepted['follows']>

const EXAMPLES = `
Examples:
  rollcall migrate --target same   after a new Api-Key, a moved database or a
                                   promoted standby, if no data was lost
  rollcall migrate --target new    for another service, or if the database has
                                   lost data: workers look up every user

--target needs the configuration file. docs/restoring.md says when to use same
and when to use new after a restore.`

export const migrateCommand: AddCommand = (program, io) => {
  program
    .command('migrate')
    .addOption(
      program
        .createOption(
          '--target <which>',
          'after you changed the service, the Api-Key or the database: keep the ledger (same), or look up all users (new)',
        )
        .choices(['same', 'new']),
    )
    .option(
      '--expect-creates <n>',
      'with --target new: pre-approve this many registrations: the brake lets them pass',
      wholeNumber('--expect-creates'),
    )
    .option(...CONFIG_OPTION)
    .option(...JSON_OPTION)
    .addHelpText('after', EXAMPLES)
    .action(async ({ target: as, config: file, json, expectCreates = null }) => {
      // Mistakes are reported before anything is changed.
      if (expectCreates !== null && as !== 'new') throw usage('--expect-creates: only with --target new')
      const accepting =
        as === undefined ? null : { as, expectCreates, config: await loadConfig(file, io.cwd) }
      const env = readEnv(io.env, {
        need: ['DATABASE_URL', ...(as === undefined ? [] : BINDING_ENV)],
        may: ['MIGRATE_DATABASE_URL', 'QUEUE_URL', ...BINDING_ENV],
      })
      const { SERVICE_URL: origin, SERVICE_API_KEY: apiKey, ROLLCALL_DIGEST_KEY: digestKey } = env
      const owner = await ownerIn(env, { decision: as !== undefined })
      const queue = queueIn(env, owner)
      const work = async () => {
        const { applied } = await migrate(owner, queue ? { queue } : {})
        return await onSession(owner, 'DATABASE_DOWN', async (client) => {
          const target = { origin, apiKey, digestKey }
          const accepted = accepting ? await accept(client, target, accepting) : NOTHING_ACCEPTED
          return { applied, ...accepted, binding: await bindingStatus(client, env) }
        })
      }
      const migrated = await Promise.race([work(), aborting(io.stop)])
      warn(io, renderBinding(migrated.binding))
      tell(io, json, migrated, () => render(migrated))
    })
}

/** A queue in the same database is made by the same role. Null: the queue is in Redis, or its place is not set. */
function queueIn(
  { DATABASE_URL, QUEUE_URL: url }: { DATABASE_URL: string; QUEUE_URL?: string },
  owner: DatabaseAddress,
): DatabaseAddress | null {
  if (url === undefined || !/^postgres(ql)?:/.test(url)) return null
  const isHere = [DATABASE_URL, owner.url].some((other) => placeOf(other) === placeOf(url))
  return isHere ? owner : { url, variable: 'QUEUE_URL' }
}

function placeOf(url: string): string {
  const { host, port, database } = new pg.Client({ connectionString: url })
  return JSON.stringify([host, port, database])
}

const NOTHING_ACCEPTED = { accepted: null, target: null, follows: null }

/** The operator has said what a changed target is. `follows`: what workers will do; null where all records are kept. */
async function accept(
  client: ClientBase,
  target: Target,
  { as, config, expectCreates }: { as: 'same' | 'new'; config: Config; expectCreates: number | null },
) {
  const sameService = (await boundOrigin(client)) === target.origin
  const customers = await acceptTarget(client, target, as)
  const accepted = { accepted: as, target: namedService(target.origin, config) }
  if (as === 'same') return { ...accepted, follows: null }
  const { windowHours } = config.brake
  const expecting = expectCreates === null ? null : { customers: expectCreates, windowHours, sweep: null }
  const expected = expecting && (await setExpected(client, expecting))
  const rate = (await readPace(client))?.rate ?? config.pace.ceiling
  // No user counts as registered any more, and nothing was let through yet.
  const [forecast] = forecastBrake({
    ...{ customers: { create: customers }, kindCounts: [], bases: { entitled: 0, present: 0 } },
    ...{ rules: config.brake, expectCreates, truncated: false },
  })
  const { through = 0, held = 0 } = forecast ?? {}
  const creates = { through, held, limit: limitOf(config.brake.creates, 0), windowHours, expected }
  // For the lookups; creates and updates may take as long again.
  const seconds = Math.ceil(customers / rate)
  return { ...accepted, follows: { sameService, customers, rate, seconds, creates } }
}

function render({ applied, accepted, target, follows }: Accepted & { readonly applied: number }): string[] {
  const kept = 'the same as before: all records are kept'
  const forgotten = 'new: rollcall has reset its records about users; workers look up each known user (GET)'
  return [
    applied === 0
      ? "rollcall's own tables are up to date."
      : `${counted(applied, 'migration')} applied. Next, run \`rollcall capture install\`.`,
    ...definitions({
      service: target && renderService(target),
      target: accepted && (accepted === 'same' ? kept : forgotten),
      restart: accepted && 'restart all workers: until then they sync nothing',
      ...(follows ? renderFollows(follows) : {}),
    }),
  ]
}

function renderFollows({ sameService, customers, rate, seconds, creates }: Follows): Labelled {
  if (customers === 0)
    return { lookups: 'none: rollcall knows no customer yet; next, run `rollcall backfill`' }
  const pace = `${renderRate(rate)}: about ${span(Math.max(1, seconds) * 1000)}`
  const { expected, windowHours } = creates
  return {
    lookups: `workers look up ${counted(customers, 'customer')} (GET), at ${pace}`,
    next: 'workers create or update users that are missing or differ: this takes at most as long as the lookups',
    backup:
      sameService &&
      'if you have restored a backup: users registered since that backup may keep access until you act; see docs/restoring.md, steps 6 and 7',
    expected: expected && renderExpected(expected),
    brake: renderCreates(creates, customers),
    note:
      expected !== null &&
      2 * seconds > windowHours * 3600 &&
      'the lookups may last longer than the pre-approval. For registrations after its end, run `rollcall backfill --expect-creates N`',
  }
}

function renderCreates({ through, held, limit, windowHours }: Follows['creates'], customers: number) {
  const of = held === 0 ? `all ${figure(customers)}` : `${figure(through)} of ${figure(customers)}`
  return applying([
    `limit in ${windowHours} h: ${figure(limit)} registrations (create), not counting those that --expect-creates pre-approves`,
    `if all users have to be created, ${of} pass${held === 0 ? '' : ', and the brake holds the others'}`,
    held > 0 && `to let all of them pass, run this command again now with \`--expect-creates ${customers}\``,
  ])
}
