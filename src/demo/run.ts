// The demo from beginning to end: start everything in the order of the README, play the story, compare.
import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { install } from '../capture/install.ts'
import { planCapture } from '../capture/relations.ts'
import { resolveConfig } from '../config/resolve.ts'
import { makePool } from '../database/pool.ts'
import { databaseAt } from '../database/session.ts'
import { openQueue } from '../dispatch/bullmq.ts'
import { startPostgres } from '../embedded/postgres.ts'
import { migrate } from '../ledger/migrate.ts'
import { readOverview } from '../ledger/overview.ts'
import { installationName } from '../ledger/target.ts'
import { renderService } from '../model/service.ts'
import { makeLog } from '../ops/log.ts'
import { sleep } from '../ops/time.ts'
import { startSandbox } from '../sandbox/server.ts'
import { namedService } from '../service/address.ts'
import { openSync } from '../worker/open-sync.ts'
import { startWorker } from '../worker/worker.ts'
import { type DemoSnapshot, type Meter, observeWorker } from './meter.ts'
import { makePeople } from './people.ts'
import demoConfig from './rollcall.config.ts'
import { makePhases, play, SCHEMA } from './story.ts'
import { compareDemo, summarize } from './summary.ts'
import type { Screen } from './view.ts'

type DemoOptions = {
  /** Stops everything in the opposite order. */
  readonly stack: AsyncDisposableStack
  readonly meter: Meter
  readonly screen: Screen
  readonly stop: AbortSignal
  /** Each phase lasts at least so long, so that it can be read. */
  readonly dwellMs: number
}

const CUSTOMERS = 243
const POLL_MS = 150
const DRAIN_MS = 2000
/** The comparison begins after this at the latest, and then shows the customers still owed. */
const STORY_MS = 300_000

const EXTENSION = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
export const CONFIG_FILE = fileURLToPath(new URL(`../demo/rollcall.config.${EXTENSION}`, import.meta.url))

/** @throws the signal's reason when it is aborted before the comparison is done */
export async function runDemo(options: DemoOptions) {
  const { meter, screen, stop, dwellMs } = options
  const demo = await openDemo(options)
  const { pool, sandbox, opened, env } = demo
  const story = makePhases(makePeople(CUSTOMERS))
  for (const [i, phase] of story.entries()) {
    const { name, says, hint, faults = [] } = phase
    const begun = Date.now()
    meter.phases.push({ name, captured: 0, calls: [] })
    screen.show({ place: `${i + 1}/${story.length}`, says, hint })
    sandbox.faults.set(faults)
    let played = false
    const playing = play(pool, phase, stop).then(() => {
      played = true
    })
    const isOver = ({ outbox, unknown, owed }: DemoSnapshot) => {
      const left = unknown + owed.due + owed.queued + owed.active + owed.waiting
      const isDone = outbox.rows === 0 && (faults.length > 0 || left === 0)
      return isDone || Date.now() > meter.startedAt + STORY_MS
    }
    await Promise.all([playing, watch(isOver, () => played)])
    if (faults.length === 0) await sleep(begun + dwellMs - Date.now(), stop)
    stop.throwIfAborted()
  }
  const { rows } = await pool.query<{ id: string }>('SELECT id FROM public.clientes')
  const read = await opened.readCustomers(rows.map(({ id }) => id))
  const found = [...read.rows].flatMap(([key, row]) =>
    row && row !== 'ambiguous' ? [[key, row] as const] : [],
  )
  const comparison = compareDemo(opened.context.config, new Map(found), sandbox.users.all())
  return { env, summary: summarize(meter, comparison, Date.now()), untilStopped: () => watch(() => false) }

  /** Keeps the snapshot fresh, until one that was begun when it `may` end fits, or the demo is stopped. */
  async function watch(fits: (snapshot: DemoSnapshot) => boolean, may = () => true): Promise<void> {
    while (!stop.aborted) {
      const mayEnd = may()
      const { rows } = await pool.query<{ n: number }>('SELECT count(*)::int AS n FROM public.clientes')
      const overview = await readOverview(pool)
      meter.snapshot = { ...overview, customers: rows[0]?.n ?? 0, users: sandbox.users.size }
      if (mayEnd && fits(meter.snapshot)) return
      await sleep(POLL_MS, stop)
    }
  }
}

async function openDemo({ stack, meter, screen, stop }: DemoOptions) {
  const say = (says: string) => screen.show({ place: '', says, hint: '' })
  const config = resolveConfig(demoConfig, CONFIG_FILE, 'src/demo/rollcall.config.ts')
  const { url, stop: stopPostgres } = await startPostgres()
  stack.defer(stopPostgres)
  stop.throwIfAborted()

  say("Creating the shop's tables, rollcall's own, the queue's, and the triggers")
  const pool = makePool({ url, max: 4, applicationName: 'shop', onError: () => undefined })
  stack.defer(() => pool.end())
  await pool.query(SCHEMA)
  await migrate(databaseAt(url), { queue: databaseAt(url) })
  const client = await pool.connect()
  await install(client, await planCapture(client, config)).finally(() => client.release())
  stop.throwIfAborted()

  say('Starting the sandbox, the queue (BullMQ on Postgres) and a worker')
  const keys = { SERVICE_API_KEY: secret(), SERVICE_SECRET_KEY: secret(), ROLLCALL_DIGEST_KEY: secret() }
  const sandbox = await startSandbox({ apiKey: keys.SERVICE_API_KEY, secretKey: keys.SERVICE_SECRET_KEY })
  stack.defer(() => sandbox.stop())
  const env = { DATABASE_URL: url, QUEUE_URL: url, SERVICE_URL: sandbox.url, ...keys }
  const { onCaptured, ...observers } = observeWorker(meter, Date.now)
  const opened = await openSync({ config, env, onCaptured, onPoolError: () => undefined })
  stack.defer(() => opened.close())
  const name = await installationName(opened.pool)
  const queue = await openQueue({ queueUrl: url, name, onError: () => undefined })
  stack.defer(() => queue.close())
  const worker = await startWorker({ opened, queue, log: makeLog('silent'), observers })
  stack.defer(() => worker.stop(DRAIN_MS))
  meter.target = renderService(namedService(sandbox.url, config))
  meter.ceiling = config.pace.ceiling
  return { pool, sandbox, opened, env }
}

function secret(): string {
  return randomBytes(24).toString('base64url')
}
