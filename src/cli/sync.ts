import { Option } from 'commander'
import type { Config } from '../config/config.ts'
import { readEnv } from '../config/env.ts'
import { loadConfig } from '../config/load.ts'
import { makeClaim } from '../ledger/claim.ts'
import { makeEnd } from '../ledger/ending.ts'
import type { CustomerKey } from '../model/customer.ts'
import { sleep, systemClock } from '../ops/time.ts'
import { describeTarget } from '../service/target.ts'
import { makeJob } from '../sync/job.ts'
import type { SyncStep } from '../sync/run.ts'
import { JUST_WRITTEN, type TurnEnd } from '../sync/turn.ts'
import { openSync } from '../worker/context.ts'
import { makeDryRun } from '../worker/dry-run.ts'
import { noteAndLease } from '../worker/sync-one.ts'
import { withPool } from './connect.ts'
import type { AddCommand, ExitCode, Io } from './io.ts'
import { asJson } from './json.ts'
import { line, sayMapped, sayPlan, sayStep } from './say-step.ts'
import { redacted, redactedStep } from './sync-json.ts'

type Options = {
  readonly config?: string
  readonly dryRun?: boolean
  readonly look?: boolean
  readonly json?: boolean
}

const EXAMPLES = `
Examples:
  rollcall sync 4711              sync this customer now and tell every step
  rollcall sync 4711 --look       look at the service first, and put right what somebody changed there
  rollcall sync 4711 --dry-run    only tell what would be done: no call, no write, nothing needs to be installed
  rollcall sync '["ES", "4711"]'  a customer with two key columns`

const WAITING = {
  busy: 'waiting: a worker has it under way',
  'just-written': 'waiting: it was written a moment ago, and the service may show it late',
  'too-early': 'waiting: an earlier call was a moment ago, or its outcome is not known yet',
} as const

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
    .option('--json', 'print the steps as JSON')
    .addHelpText('after', EXAMPLES)
    .action(async (keys: string[], options: Options) => {
      const config = await loadConfig(options.config, io.cwd)
      exit(
        await (options.dryRun
          ? dryRun(io, { config, keys, options })
          : syncNow(io, { config, keys, options })),
      )
    })
}

type Asked = { readonly config: Config; readonly keys: readonly CustomerKey[]; readonly options: Options }

async function dryRun(io: Io, { config, keys, options }: Asked): Promise<ExitCode> {
  const env = readEnv(io.env, { need: ['DATABASE_URL'], may: ['ROLLCALL_DIGEST_KEY'] })
  return await withPool(env.DATABASE_URL, async (pool) => {
    const run = await makeDryRun({ pool, config, digestKey: env.ROLLCALL_DIGEST_KEY })
    const results = []
    for (const key of keys) {
      const result = await run(key)
      results.push({ key, ...result })
      if (options.json) continue
      io.out(`customer ${key} (dry run)`)
      for (const text of sayMapped(result.mapped)) io.out(text)
      io.out(line('plan', sayPlan(result.plan)))
      if (result.withoutLedger)
        io.out(
          line('note', 'planned as if nothing had been sent before: no ledger, or no ROLLCALL_DIGEST_KEY'),
        )
    }
    if (options.json)
      io.out(
        asJson(results.map(({ mapped: _values, ...shown }) => ({ ...shown, plan: redacted(shown.plan) }))),
      )
    return results.some(({ plan }) => plan.kind === 'reject') ? 3 : 0
  })
}

async function syncNow(io: Io, { config, keys, options }: Asked): Promise<ExitCode> {
  const env = readEnv(io.env, {
    need: ['DATABASE_URL', 'SERVICE_URL', 'SERVICE_API_KEY', 'SERVICE_SECRET_KEY', 'ROLLCALL_DIGEST_KEY'],
  })
  const opened = await openSync({ config, env, onPoolError: () => undefined })
  const target = describeTarget(env.SERVICE_URL, config)
  try {
    let steps: SyncStep[] = []
    const observe = (step: SyncStep) => {
      steps.push(step)
      if (!options.json) for (const text of sayStep(step)) io.out(text)
    }
    const { pool, context } = opened
    const job = makeJob({
      context,
      claim: makeClaim(pool, {
        lifetimeMs: config.timing.lifetimeMs,
        binding: opened.binding,
        fingerprint: config.fingerprint,
      }),
      end: makeEnd(pool),
      clock: systemClock,
      stopping: io.stop,
      abort: io.stop,
      observe: (_key, step) => observe(step),
      look: options.look === true,
    })
    const results: { key: CustomerKey; target: string; steps: unknown[] }[] = []
    const ends: (TurnEnd | null)[] = []
    for (const key of keys) {
      steps = []
      if (!options.json) io.out(`customer ${key} at ${target}`)
      let waitMs: number | null
      do {
        const lease = await noteAndLease({
          pool,
          key,
          leaseMs: config.timing.queueLeaseMs,
          sleep: (ms) => sleep(ms, io.stop),
          onWait: (why) => io.err(line('', WAITING[why])),
          stop: io.stop,
        })
        if (lease) await job(lease)
        waitMs = tooSoon(steps.at(-1))
        if (waitMs !== null) {
          io.err(line('', WAITING['just-written']))
          await sleep(waitMs, io.stop)
        }
      } while (waitMs !== null && !io.stop.aborted)
      const last = steps.at(-1)
      ends.push(last?.step === 'ended' ? last.end : null)
      results.push({ key, target, steps: steps.map(redactedStep) })
    }
    if (options.json) io.out(asJson(results))
    return exitFor(ends)
  } finally {
    await opened.close()
  }
}

/** How long a look at the service has to wait; null when it is not what the customer waits for. */
function tooSoon(step: SyncStep | undefined): number | null {
  if (step?.step !== 'ended' || step.end.kind !== 'retry') return null
  return step.end.reason.code === JUST_WRITTEN ? (step.end.waitMs ?? 0) : null
}

function exitFor(ends: readonly (TurnEnd | null)[]): ExitCode {
  if (ends.some((end) => end?.kind !== 'settle')) return 1
  return ends.some((end) => end?.kind === 'settle' && end.state === 'rejected') ? 3 : 0
}
