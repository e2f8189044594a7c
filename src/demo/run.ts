// The demo from beginning to end: set up, tell the story, compare.

import { describeCustomers } from '../customers/describe.ts'
import { makeReadCustomers } from '../customers/read.ts'
import { sayService } from '../model/service.ts'
import { seededRandom } from '../sandbox/faults/faults.ts'
import { namedService } from '../service/target.ts'
import { type Comparison, compareAll } from './compare.ts'
import { advance, type Observed, startMeter } from './meter.ts'
import { type Demo, openDemo } from './open.ts'
import { makePeople } from './people.ts'
import { makePhases, type Phase } from './phases.ts'
import { play } from './play.ts'
import type { Screen } from './screen.ts'
import { isNoted, isSettled, readStanding, type Standing } from './standing.ts'
import { type Summary, summarize } from './summary.ts'

export type RunOptions = {
  readonly stack: AsyncDisposableStack
  readonly screen: Screen
  readonly now: () => number
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  readonly stop: AbortSignal
  /** Each phase lasts at least so long, so that it can be read. */
  readonly dwellMs: number
}

export type Ran = {
  readonly demo: Demo
  readonly summary: Summary
  /** Words for what goes on, outside of the story. */
  readonly say: (says: string, look?: string) => void
  /** Rejects when the demo breaks down while it is kept. */
  readonly broken: Promise<void>
}

const CUSTOMERS = 243
/** The same story every time. */
const SEED = 2
const POLL_MS = 150
/** However slow the machine is, the comparison begins after this; what is still owed then shows in it. */
const STORY_MS = 50_000

/** @throws the signal's reason when it is aborted before the comparison is done */
export async function runDemo(options: RunOptions): Promise<Ran> {
  const { stack, screen, now, stop } = options
  let meter = startMeter(now())
  const tell = (observed: Observed) => {
    meter = advance(meter, observed)
    screen.update(meter)
  }
  const say = (says: string, look = '') =>
    tell({ what: 'phase', phase: { number: 0, of: 0, name: '', says, look } })

  const demo = await openDemo({ stack, now, say, tell, stop })
  const target = sayService(namedService(demo.env.SERVICE_URL, demo.config))
  tell({ what: 'opened', target })
  const random = seededRandom(SEED)
  const phases = makePhases(makePeople(CUSTOMERS, random), random)
  const watch = watchStanding(demo, { ...options, tell })
  stack.defer(() => watch.end())
  for (const [index, phase] of phases.entries()) {
    const { name, says, look } = phase
    tell({ what: 'phase', phase: { number: index + 1, of: phases.length, name, says, look } })
    await goThrough(phase, demo, { ...options, watch, deadline: meter.startedAt + STORY_MS })
    stop.throwIfAborted()
  }
  const comparison = await compareDemo(demo)
  return { demo, say, broken: watch.looking, summary: summarize({ meter, comparison, target, now: now() }) }
}

type Watch = ReturnType<typeof watchStanding>
type Going = RunOptions & { readonly watch: Watch; readonly deadline: number }

async function goThrough(phase: Phase, { pool, sandbox }: Demo, going: Going): Promise<void> {
  const { now, sleep, stop, dwellMs, watch, deadline } = going
  const begun = now()
  sandbox.faults.set(phase.faults)
  await play({ pool, phase, now, sleep: (ms) => sleep(ms, stop), stop })
  await watch.until(phase.settles ? isSettled : isNoted, deadline)
  if (phase.settles) await sleep(Math.max(0, begun + dwellMs - now()), stop)
}

type Watching = Pick<RunOptions, 'now' | 'sleep'> & { readonly tell: (observed: Observed) => void }

/** Looks again and again where everything stands. */
function watchStanding({ pool, sandbox }: Demo, { now, sleep, tell }: Watching) {
  const ending = new AbortController()
  let last: Standing | null = null
  const looking = (async () => {
    while (!ending.signal.aborted) {
      last = await readStanding({ pool, sandbox, now })
      tell({ what: 'standing', standing: last })
      await sleep(POLL_MS, ending.signal)
    }
  })()
  // Whoever waits is told; nobody may be waiting at the moment.
  looking.catch(() => undefined)
  return { looking, until, end }

  /** Resolves when it stands so, as seen after now, or at the deadline. */
  async function until(met: (standing: Standing) => boolean, deadline: number): Promise<void> {
    const since = now()
    while (now() < deadline && !ending.signal.aborted) {
      if (last !== null && last.at >= since && met(last)) return
      await Promise.race([sleep(POLL_MS), looking])
    }
  }

  async function end(): Promise<void> {
    ending.abort()
    await looking.catch(() => undefined)
  }
}

async function compareDemo({ pool, sandbox, config }: Demo): Promise<Comparison> {
  const readMany = makeReadCustomers(config, await describeCustomers(pool, config))
  const { rows } = await pool.query<{ id: string }>('SELECT id FROM public.v_clientes ORDER BY id')
  const found = await readMany(
    pool,
    rows.map(({ id }) => id),
  )
  return compareAll({
    config,
    rows: new Map([...found].map(([key, row]) => [key, row === 'ambiguous' ? null : row])),
    users: sandbox.users.all(),
  })
}
