// A whole run: everything is started, broken as planned, mended, and judged.
import { setTimeout as sleep } from 'node:timers/promises'
import {
  changeService,
  hurtPostgres,
  hurtQueue,
  hurtWorker,
  syncByHand,
  type Tell,
  write,
  writeFirst,
} from './agents.ts'
import { type Lane, LIFETIME_MS, openGround } from './ground.ts'
import { historyOf } from './history.ts'
import { type Finding, judge } from './judge.ts'
import { startLagging } from './lag.ts'
import { claimsOf, readLog } from './log.ts'
import { planRun, WORKERS } from './plan.ts'
import { type Supervised, superviseWorker } from './processes.ts'
import { settle } from './rest.ts'
import { searchMetrics, searchOutput, searchServers } from './secrets.ts'
import { type ServiceKind, startService } from './service.ts'

export type Options = {
  readonly seed: number
  readonly minutes: number
  readonly lane: Lane
  readonly service: ServiceKind
  readonly tell: Tell
  /** Ends the run early, without a judgement; everything is stopped. */
  readonly signal: AbortSignal
}

export type Result = {
  /** Empty when all is well. */
  readonly findings: readonly string[]
  /** Histories of those customers whom findings are about. */
  readonly histories: readonly string[]
  readonly summary: string
}

/** Nothing may be written in this time after everything has come to rest. */
const QUIET_MS = 3000
const SEARCH_EVERY_MS = 2000
const MOST_HISTORIES = 3

export async function runChaos({
  seed,
  minutes,
  lane,
  service: kind,
  tell,
  signal,
}: Options): Promise<Result> {
  const plan = planRun({ seed, minutes }, LIFETIME_MS)
  await using service = await startService(kind, plan.serviceSeed)
  await using ground = await openGround(lane, service.url)
  using lag = startLagging()
  await using stack = new AsyncDisposableStack()
  const workers: Supervised[] = []
  for (let n = 1; n <= WORKERS; n += 1) workers.push(stack.use(await superviseWorker(`worker ${n}`, ground)))
  await Promise.all(workers.map((worker) => worker.up(signal)))
  const from = Date.now()
  tell(`everything is started; ${minutes} minutes of trouble`)

  const over = AbortSignal.any([signal, AbortSignal.timeout(minutes * 60_000)])
  const until = { signal: over, tell }
  const found: Finding[] = []
  await writeFirst(ground, plan.first)
  const [printed, ...written] = await Promise.all([
    syncByHand(ground, plan.hand, until),
    ...plan.writers.map((changes) => write(ground, changes, until)),
    changeService(service, plan.service, until),
    ...workers.map((worker, at) => hurtWorker({ pool: ground.pool, worker }, plan.workers[at] ?? [], until)),
    hurtPostgres(ground, plan.postgres, until),
    hurtQueue(ground, plan.queue, until),
    searchAgain(),
  ])
  signal.throwIfAborted()
  service.mend()
  tell('the trouble is over')
  const { findings, restAt } = await settle({ ground, service, plan, tell, signal })
  found.push(...findings)
  await sleep(QUIET_MS)
  await search()
  for (const worker of workers) {
    const ended = await worker.finish()
    if (ended?.code !== 0)
      found.push({ key: null, what: `${worker.name} ended with ${JSON.stringify(ended)}` })
    const output = await worker.output()
    found.push(...searchOutput(`the output of ${worker.name}`, output, plan.values.known))
    found.push(...endedByItself(worker))
  }
  found.push(...searchOutput('the output of sync by hand', String(printed), plan.values.known))
  const log = await readLog(ground.pool)
  const arrivals = service.arrivals()
  const suspensions = workers.flatMap((worker) => worker.suspensions)
  const { findings: judged, late } = judge({ log, arrivals, suspensions, slackMs: lag.around, restAt })
  found.push(...judged)

  const keys = [
    ...new Set([...found.flatMap(({ key }) => key ?? []), ...late.map(({ userId }) => userId)]),
  ].slice(0, MOST_HISTORIES)
  const histories = await Promise.all(keys.map((key) => historyOf(key, { ground, log, arrivals, from })))
  const claims = claimsOf(log)
  const broken = claims.filter(({ endedAt }) => endedAt === null).length
  const lives = workers.reduce((sum, worker) => sum + worker.lives.length, 0)
  const changes = written.reduce<number>((sum, count) => sum + (count ?? 0), 0)
  return {
    findings: [...new Set(found.map(({ key, what }) => (key === null ? what : `${key}: ${what}`)))],
    histories,
    summary: `${changes} changes, ${arrivals.length} requests, ${lives} workers' lives, ${suspensions.length} suspensions, ${late.length} requests late after one, ${broken} of ${claims.length} claims broken off`,
  }

  async function search(): Promise<void> {
    found.push(...(await searchServers(ground, plan.values.known)))
    for (const { metricsUrl } of workers) found.push(...(await searchMetrics(metricsUrl, plan.values.known)))
  }

  async function searchAgain(): Promise<void> {
    while (!over.aborted) {
      await sleep(SEARCH_EVERY_MS, undefined, { signal: over }).catch(() => undefined)
      await search()
    }
  }
}

/** A server that is away ends no worker, and a worker that is asked to end does. */
function endedByItself({ name, lives }: Supervised): readonly Finding[] {
  return lives.flatMap(({ pid, asked, ended, said }) => {
    const { code = null, signal = null } = ended ?? {}
    if (asked === null)
      return [{ key: null, what: `${name} (${pid}) ended by itself, with ${code ?? signal}: ${said}` }]
    if (asked === 'SIGTERM' && signal === 'SIGKILL')
      return [{ key: null, what: `${name} (${pid}) did not end on SIGTERM: ${said}` }]
    return []
  })
}
