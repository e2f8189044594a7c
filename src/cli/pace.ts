import { readEnv } from '../config/env.ts'
import { checkMigrated } from '../ledger/migrate.ts'
import { countWaiting } from '../ledger/retry.ts'
import { RollcallError } from '../model/errors.ts'
import { isStopped, type PaceReport, readPace } from '../pace/read.ts'
import { endHold, setCeiling } from '../pace/row.ts'
import { withPool } from './connect.ts'
import type { AddCommand } from './io.ts'
import { asJson, lines, span } from './render.ts'

type Options = { readonly ceiling?: string; readonly resume?: boolean; readonly json?: boolean }

const MOST_PER_SECOND = 10_000

const EXAMPLES = `
All workers together make so many calls per second at most (the ceiling). Below
it the rate finds its own way: a 429 or 503 of the service halves it, and it
rises again by itself, from nothing to the ceiling within half a minute.

A ceiling that is set here holds at once, for all running workers, and stands
until pace.ceiling in the configuration is changed to something else than the
configuration asks for now. It reads DATABASE_URL alone, and no configuration.

--resume ends a wait that the service asked for, for everybody. A customer whose
call was answered 429 keeps a wait of its own; it says how many those are.

Examples:
  rollcall pace                  how fast calls are made, and whether they are
  rollcall pace --ceiling 200    at most 200 calls per second from now on
  rollcall pace --resume         call again now, whatever Retry-After asked for
  rollcall pace --json           the same as JSON

Exit codes:
  0  calls are made, or would be
  3  nobody calls: the service is out, refuses the credentials, or asked to be
     left alone
  1  it failed
  2  the call or the environment is wrong, or the tables need a migration`

/** `rollcall pace`: how fast all processes together call the service; and changing it while they run. */
export const paceCommand: AddCommand = (program, io, exit) => {
  program
    .command('pace')
    .description('show how fast the service is called, and set the ceiling while workers run')
    .option('--ceiling <number>', `calls per second at most, above 0 and up to ${MOST_PER_SECOND}`)
    .option('--resume', 'end a wait that the service asked for (Retry-After)')
    .option('--json', 'print it as JSON')
    .addHelpText('after', EXAMPLES)
    .action(async ({ ceiling: text, resume = false, json = false }: Options) => {
      const ceiling = text === undefined ? null : readCeiling(text)
      const { DATABASE_URL: url } = readEnv(io.env, { need: ['DATABASE_URL'] })
      const { pace, waiting } = await withPool({ url, stop: io.stop }, async (pool) => {
        await checkMigrated(pool)
        if (ceiling !== null) await setCeiling(pool, ceiling)
        if (resume) await endHold(pool)
        const waiting = resume
          ? await countWaiting(pool, { kind: 'reason', code: 'later', detail: null })
          : null
        return { pace: await readPace(pool), waiting }
      })
      if (json) io.out(asJson(pace && waiting !== null ? { ...pace, waiting } : pace))
      else for (const line of [...sayPace(pace), ...sayWaiting(waiting ?? 0)]) io.out(line)
      exit(pace && isStopped(pace) ? 3 : 0)
    })
}

/** @throws RollcallError USAGE when it is no number above 0 and up to 10,000, written as 200 or 0.5 */
export function readCeiling(text: string): number {
  const ceiling = /^\d{1,9}(\.\d{1,9})?$/.test(text) ? Number(text) : Number.NaN
  if (ceiling > 0 && ceiling <= MOST_PER_SECOND) return ceiling
  throw new RollcallError('USAGE', [
    `--ceiling: expected calls per second as a number above 0 and up to ${MOST_PER_SECOND}, like 200 or 0.5`,
  ])
}

/** The pace as lines for a person: how fast, how fast at most and who said so, and what stops it. */
export function sayPace(pace: PaceReport | null): string[] {
  if (!pace) return lines('pace', 'not set yet: the first worker sets what its configuration asks for')
  return [
    ...lines('rate', sayRate(pace)),
    ...lines('ceiling', sayCeiling(pace)),
    ...lines('calls', sayCalls(pace)),
    ...sayMore(pace),
  ]
}

/** After the end of a hold, which is everybody's: whoever was answered so has a wait besides. */
export function sayWaiting(customers: number): string[] {
  if (customers === 0) return []
  const who = customers === 1 ? '1 customer waits' : `${customers} customers wait`
  return lines(
    'waiting',
    `${who} for a later attempt, as after any 429; \`rollcall failures --retry --reason later\` tries them now`,
  )
}

function sayRate({ rate, ceiling, heldForMs }: PaceReport): string {
  if (heldForMs > 0) return `0 calls/s for ${span(heldForMs)}, as the service asked for; then ${figure(rate)}`
  return rate < ceiling ? `${figure(rate)} calls/s, rising while calls are made` : `${figure(rate)} calls/s`
}

function sayCeiling({ ceiling, configured }: PaceReport): string {
  const most = `${figure(ceiling)} calls/s`
  if (configured === null) return `${most}, until the first worker sets what its configuration asks for`
  if (configured === ceiling) return `${most}, as configured`
  return `${most}, set by hand (configured: ${figure(configured)})`
}

function sayCalls({ breaker, cause, failedProbes, heldForMs }: PaceReport): string {
  if (breaker !== 'open' && heldForMs > 0)
    return `stopped: the service asked to be left alone (\`rollcall pace --resume\` ends it)`
  if (breaker === 'open')
    return cause === 'credentials'
      ? 'stopped: the service refuses our credentials'
      : `stopped: the service is out (probes that failed: ${failedProbes})`
  if (cause !== null) return 'stopped for a moment, to ask whether the service refuses our credentials'
  return breaker === 'trying' ? 'made again, slowly at first' : 'are made'
}

function sayMore({ breaker, cause, openedAt, nextProbeMs }: PaceReport): string[] {
  if (breaker !== 'open') return []
  return [
    ...(openedAt === null ? [] : lines('since', openedAt)),
    ...lines('next probe', sayNext(nextProbeMs ?? 0)),
    ...lines(
      'to do',
      cause === 'credentials'
        ? 'correct SERVICE_SECRET_KEY or SERVICE_API_KEY and restart, or have them accepted'
        : 'nothing: a worker goes on by itself as soon as the service answers',
    ),
  ]
}

function sayNext(ms: number): string {
  return ms === 0 ? 'now, if a worker runs' : `in ${span(ms)}, if a worker runs`
}

/** With at most two digits after the point. */
function figure(callsPerSecond: number): string {
  return callsPerSecond < 0.01 ? 'less than 0.01' : String(Math.round(callsPerSecond * 100) / 100)
}
