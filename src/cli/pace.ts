import { countWaiting } from '../ledger/retry.ts'
import { isStopped, type PaceReport, readPace } from '../pace/read.ts'
import { endHold, setCeiling } from '../pace/row.ts'
import { counted, minute, renderRate } from '../report/figures.ts'
import { withDatabase } from './connect.ts'
import type { AddCommand } from './io.ts'
import { FAILED, JSON_OPTION, MOST_PER_SECOND, rateIn } from './option-values.ts'
import { definitions, renderIn, span, tell } from './render.ts'

const EXAMPLES = `
The ceiling is the highest number of calls per second of all workers together.
A 429 or 503 of the service halves the rate. Then the rate rises again by
itself, up to the ceiling.

--ceiling takes effect immediately in all running workers. It stays until you
change pace.ceiling in the configuration. The command needs DATABASE_URL only.

After a Retry-After all workers wait; --resume ends this wait. In addition, each
customer whose call got a 429 has its own wait. --resume prints how many such
customers wait. \`rollcall failures\` lists them with the reason \`later\`. To end
their waits, run \`rollcall failures --retry --reason later\`.

Examples:
  rollcall pace                  the rate, and whether calls are stopped
  rollcall pace --ceiling 200    at most 200 calls per second from now on
  rollcall pace --resume         end a wait because of Retry-After

Exit codes:
  0  calls are not stopped
  3  calls are stopped: the service fails, refuses the keys, or has sent a
     Retry-After
${FAILED}`

export const paceCommand: AddCommand = (program, io, exit) => {
  program
    .command('pace')
    .option(
      '--ceiling <number>',
      `new ceiling, in calls per second, from 0.1 to ${MOST_PER_SECOND}`,
      rateIn('--ceiling'),
    )
    .option('--resume', 'end the wait that the service asked for with Retry-After')
    .option(...JSON_OPTION)
    .addHelpText('after', EXAMPLES)
    .action(async ({ ceiling, resume = false, json }) => {
      const pace = await withDatabase(io, {}, async (pool): Promise<ShownPace | null> => {
        if (ceiling !== undefined) await setCeiling(pool, ceiling)
        if (resume) await endHold(pool)
        const waiting = resume && (await countWaiting(pool, { kind: 'reason', code: 'later', detail: null }))
        const report = await readPace(pool)
        return report && (waiting === false ? report : { ...report, waiting })
      })
      tell(io, json, pace, () => renderPace(pace))
      exit(pace && isStopped(pace) ? 3 : 0)
    })
}

/** `waiting`: after `--resume`, the customers that have a wait of their own besides. */
type ShownPace = PaceReport & { readonly waiting?: number }

export function renderPace(pace: ShownPace | null): string[] {
  if (!pace) return definitions({ pace: PACE_NOT_SET })
  const { cause, openedAt, waiting = 0 } = pace
  return definitions({
    calls: renderCalling(pace),
    since: openedAt && minute(openedAt),
    'to do': cause && (cause === 'credentials' ? CORRECT_KEYS : WAIT_FOR_SERVICE),
    rate: renderPresentRate(pace),
    ceiling: renderCeiling(pace),
    note: cause && pace.waiting !== undefined && '--resume only ends a wait that a Retry-After has caused',
    waiting:
      waiting > 0 &&
      `${counted(waiting, 'customer waits', 'customers wait')} after a 429; to retry now, run \`rollcall failures --retry --reason later\``,
  })
}

export const PACE_NOT_SET = 'not set yet: the first command that makes calls sets it'
const CORRECT_KEYS =
  'correct SERVICE_SECRET_KEY or SERVICE_API_KEY, then restart the workers. If the keys are correct, ask the provider of the service to accept them: workers then continue within about a minute'
const WAIT_FOR_SERVICE = 'check that a worker runs: it continues as soon as the service answers'

function renderPresentRate({ rate, ceiling, breaker, ...stopped }: PaceReport): string {
  if (breaker === 'open')
    return '0 calls/s; after a successful probe the rate rises again, at most to the ceiling'
  const then = renderRate(rate)
  if (isStopped(stopped)) return `0 calls/s now, and ${then} when calls are allowed again`
  return `${then}${rate < ceiling ? ', rising while calls are made' : ''}`
}

function renderCeiling({ ceiling, configured }: PaceReport): string {
  const most = renderRate(ceiling)
  if (configured === null) return `${most}, until the first worker sets the ceiling of its configuration`
  if (configured === ceiling) return `${most}, as configured`
  return `${most}, set by hand (configured: ${renderRate(configured)})`
}

export function renderCalling({ breaker, cause, heldForMs, ...probes }: PaceReport): string {
  if (cause === 'credentials') return 'stopped for workers, because the service refuses their keys'
  if (cause === 'outage')
    return `stopped, because the service fails (failed probes: ${probes.failedProbes}; a probe is due ${renderIn(probes.nextProbeMs ?? 0)})`
  if (heldForMs > 0)
    return `stopped for another ${span(heldForMs)}, because the service sent a Retry-After: \`rollcall pace --resume\` ends the wait`
  return breaker === 'trying' ? 'allowed again, slowly at first' : 'allowed'
}
