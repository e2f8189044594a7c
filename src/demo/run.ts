// The demo from beginning to end: set up, play the story, compare.
import { sayService } from '../model/service.ts'
import { seededRandom } from '../sandbox/faults/faults.ts'
import { namedService } from '../service/target.ts'
import { compareDemo } from './compare.ts'
import { beginPhase, type Meter } from './meter.ts'
import { type Demo, openDemo } from './open.ts'
import { makePeople } from './people.ts'
import type { Screen } from './screen.ts'
import { type DemoSnapshot, isSettled, readSnapshot } from './snapshot.ts'
import { makePhases, play } from './story.ts'
import { type Summary, summarize } from './summary.ts'

type DemoOptions = {
  readonly stack: AsyncDisposableStack
  readonly meter: Meter
  readonly screen: Screen
  readonly now: () => number
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  readonly stop: AbortSignal
  /** Each phase lasts at least so long, so that it can be read. */
  readonly dwellMs: number
}

export type DemoEnd = {
  readonly demo: Demo
  readonly summary: Summary
  /** Shows a sentence outside of the story. */
  readonly say: (says: string, look?: string) => void
  /** Rejects when the demo breaks down while it is kept. */
  readonly broken: Promise<void>
}

const CUSTOMERS = 243
/** The same story every time. */
const SEED = 2
const POLL_MS = 150
/** On a slow machine the comparison begins after this; it then shows the customers still owed. */
const STORY_MS = 50_000

/** @throws the signal's reason when it is aborted before the comparison is done */
export async function runDemo(options: DemoOptions): Promise<DemoEnd> {
  const { stack, meter, screen, now, sleep, stop, dwellMs } = options
  const say = (says: string, look = '') => {
    meter.shown = { place: '', says, look }
    screen.announce()
  }
  const demo = await openDemo({ ...options, say })
  const { pool, sandbox } = demo
  meter.target = sayService(namedService(demo.env.SERVICE_URL, demo.config))
  const random = seededRandom(SEED)
  const phases = makePhases(makePeople(CUSTOMERS, random), random)
  const watch = watchDemo(demo, options)
  stack.defer(() => watch.end())
  for (const phase of phases) {
    const { faults = [], settles = true } = phase
    const begun = now()
    beginPhase(meter, phase, phases.length)
    screen.announce()
    sandbox.faults.set(faults)
    await play({ pool, phase, now, sleep: (ms) => sleep(ms, stop), stop })
    await watch.until(settles ? isSettled : ({ outbox }) => outbox === 0, meter.startedAt + STORY_MS)
    if (settles) await sleep(Math.max(0, begun + dwellMs - now()), stop)
    stop.throwIfAborted()
  }
  const summary = summarize(meter, await compareDemo(demo), now())
  return { demo, say, broken: watch.reading, summary }
}

/** Takes snapshots until it is ended. */
function watchDemo({ pool, sandbox }: Demo, { meter, now, sleep }: DemoOptions) {
  const ending = new AbortController()
  const reading = (async () => {
    while (!ending.signal.aborted) {
      meter.snapshot = await readSnapshot(pool, sandbox, now())
      await sleep(POLL_MS, ending.signal)
    }
  })()
  // A failure reaches `until` and `broken`; without this it would also end the process.
  reading.catch(() => undefined)
  return {
    reading,
    /** Resolves when a snapshot taken from now on meets the condition, or at the deadline. */
    async until(met: (snapshot: DemoSnapshot) => boolean, deadline: number): Promise<void> {
      const since = now()
      while (now() < deadline && !ending.signal.aborted) {
        if (meter.snapshot !== null && meter.snapshot.at >= since && met(meter.snapshot)) return
        await Promise.race([sleep(POLL_MS), reading])
      }
    },
    async end(): Promise<void> {
      ending.abort()
      await reading.catch(() => undefined)
    },
  }
}
