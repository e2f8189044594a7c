// Asks a sample of the users whether they are there; see evidence.ts.
import type { CustomerKey } from '../model/customer.ts'
import type { SyncContext } from '../sync/context.ts'
import type { Snapshot, SnapshotReading } from '../sync/snapshot.ts'
import { drawSample, writeSample } from './evidence.ts'
import { type CheckOptions, makeChecker } from './look.ts'
import { readSubjects } from './read.ts'
import type { Skipped } from './words.ts'

export type SampleOptions = Omit<SnapshotReading, 'unwatched'> &
  CheckOptions & { readonly context: Pick<SyncContext, 'unwatched'> }

const SIZE = 30
/** Most of them may be of customers that cannot be checked. */
const MOST_DRAWN = 500

/** Such customers could be asked a moment later. */
const WAITING: ReadonlySet<Skipped | null> = new Set<Skipped>(['owed', 'just-settled', 'unreadable-row'])

/** Stores the answers, unless it was stopped. They say something of the service, and nothing of the customers. */
export type AskSample = (signal: AbortSignal) => Promise<'asked' | 'pace' | null>

export function makeSampling(options: SampleOptions): AskSample {
  const { pool } = options
  const look = makeChecker(options)
  return async (signal) => {
    const { at, keys } = await drawSample(pool, MOST_DRAWN)
    const { subjects, waiting } = await readSample(options, keys)
    const { answers, stopped } = await look(subjects, signal)
    if (stopped) return stopped
    const sights = [...answers.values()].flatMap((answer) => ('sight' in answer ? answer.sight : []))
    const denied = sights.filter((sight) => typeof sight === 'string').length
    await writeSample(pool, at, { asked: sights.length, denied, wanted: subjects.length + waiting })
    return null
  }
}

/** In the order of the keys, which is a random one; reads as few as it takes. */
async function readSample(options: SampleOptions, keys: readonly CustomerKey[]) {
  const subjects: Snapshot[] = []
  let waiting = 0
  const { unwatched } = options.context
  for (let at = 0; at < keys.length && subjects.length < SIZE; at += SIZE) {
    const read = await readSubjects({ ...options, unwatched }, keys.slice(at, at + SIZE))
    subjects.push(...read.flatMap(({ subject, skip }) => (skip === null ? subject : [])))
    waiting += read.filter(({ skip }) => WAITING.has(skip)).length
  }
  return { subjects: subjects.slice(0, SIZE), waiting }
}
