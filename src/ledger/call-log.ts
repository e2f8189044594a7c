import type { Pool } from 'pg'
import { type CallEntry, writeCalls } from './calls.ts'

/** Trouble with the log: it cannot be written (it is tried again), or so many calls are missing in it. */
export type LogTrouble = { readonly error: unknown } | { readonly dropped: number }

export type CallLog = {
  /** Takes an entry and returns at once; it never throws, and no call waits for it. */
  add(entry: CallEntry): void
  /** Resolves when everything that was added is written, or one try has failed. */
  flush(): Promise<void>
  /** Writes what is left, for two seconds at most; what cannot be written by then is dropped. */
  close(): Promise<void>
}

type Options = {
  readonly pool: Pool
  /** The process that makes the calls: what it is, host and pid. */
  readonly by: string
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  /** Called with an error once until writing works again, and then of what was lost. */
  readonly onTrouble: (trouble: LogTrouble) => void
  /** How long entries are gathered, in milliseconds. Default: 500. */
  readonly gatherMs?: number
  /** How many entries are kept while they cannot be written. Default: 10,000. */
  readonly mostKept?: number
}

const GATHER_MS = 500
const MOST_KEPT = 10_000
const BATCH = 200
/** While the database is away. */
const RETRY_MS = 2000
const CLOSE_MS = 2000
const CLOSE_RETRY_MS = 100
/** Postgres' classes for "this value cannot be": an entry like that would hold up all others for ever. */
const UNWRITABLE = /^2[23]/

/**
 * The log of calls is for people who ask later. It must cost no call anything: entries are gathered, written by the
 * hundred, kept while the database is away, and dropped, the oldest first, when there are too many. A crash loses
 * half a second of it.
 */
export function makeCallLog({ pool, by, sleep, onTrouble, gatherMs, mostKept }: Options): CallLog {
  let unwritten: CallEntry[] = []
  let underWay = 0
  let dropped = 0
  let troubled = false
  let closed = false
  let timer: NodeJS.Timeout | null = null
  let writing: Promise<void> | null = null

  function add(entry: CallEntry): void {
    unwritten.push(entry)
    trim()
    if (unwritten.length >= BATCH && !troubled) void start()
    else schedule()
  }

  function trim(): void {
    const over = unwritten.length - (mostKept ?? MOST_KEPT)
    if (over > 0) dropped += unwritten.splice(0, over).length
  }

  function schedule(): void {
    if (closed || writing) return
    timer ??= setTimeout(() => void start(), troubled ? RETRY_MS : (gatherMs ?? GATHER_MS)).unref()
  }

  function start(): Promise<void> {
    if (timer) clearTimeout(timer)
    timer = null
    writing ??= writeKept(unwritten.length).finally(() => {
      writing = null
      if (unwritten.length > 0) schedule()
    })
    return writing
  }

  /** Writes only the calls that are there at the start: later ones are gathered again. */
  async function writeKept(count: number): Promise<void> {
    for (let left = count; left > 0 && unwritten.length > 0; left -= BATCH) {
      const batch = unwritten.splice(0, Math.min(BATCH, left))
      underWay = batch.length
      try {
        await writeCalls(pool, batch, { by, again: troubled })
        recovered()
      } catch (error) {
        if (!troubled) onTrouble({ error })
        troubled = true
        if (!isUnwritable(error)) {
          unwritten = [...batch, ...unwritten]
          trim()
          return
        }
        dropped += batch.length
      } finally {
        underWay = 0
      }
    }
  }

  function recovered(): void {
    troubled = false
    if (dropped > 0) onTrouble({ dropped })
    dropped = 0
  }

  async function flush(): Promise<void> {
    while (writing) await writing
    if (unwritten.length > 0) await start()
  }

  async function close(): Promise<void> {
    closed = true
    const late = new AbortController()
    const deadline = sleep(CLOSE_MS, late.signal).then(() => late.abort())
    const done = (async () => {
      await flush()
      while (unwritten.length > 0 && !late.signal.aborted) {
        await sleep(CLOSE_RETRY_MS, late.signal)
        await flush()
      }
    })()
    await Promise.race([done, deadline])
    late.abort()
    if (timer) clearTimeout(timer)
    dropped += unwritten.splice(0).length + underWay
    if (dropped > 0) recovered()
  }

  return { add, flush, close }
}

function isUnwritable(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' && UNWRITABLE.test(code)
}
