import { readBody } from '../service/json.ts'

/** One call as it came in. Headers are not in it, and so no credentials. */
export type JournalEntry = {
  /** From 1, in the order of arrival; never used twice, not even after a clear. */
  readonly number: number
  readonly method: string
  /** As sent, still percent-encoded. */
  readonly path: string
  /** From the path, or from the body of a create; null when there is none. */
  readonly userId: string | null
  /** Epoch milliseconds, when the head of the request had arrived. */
  readonly arrivedAt: number
  /** When the answer was handed to the connection; null as long as there is none. */
  readonly answeredAt: number | null
  /** The body as text, '' when there was none; bytes that are not UTF-8 are shown as U+FFFD. */
  readonly raw: string
  /** The body parsed each time it is asked for; undefined when what was sent is not JSON. */
  readonly body: unknown
  /** Null while there is no answer, and for ever when the connection was cut. */
  readonly status: number | null
  /** Whether the call changed what the sandbox holds, answered or not. */
  readonly stored: boolean
  /** Kinds of the faults that struck it. */
  readonly faults: readonly string[]
}

export type JournalQuery = { readonly after?: number; readonly userId?: string; readonly limit?: number }

export type Journal = {
  /** The number of the last entry; 0 before the first. */
  readonly last: number
  /** Entries in order of arrival: those after a number, of one user, at most `limit`. */
  list(query?: JournalQuery): readonly JournalEntry[]
  clear(): void
}

type Arrival = Pick<JournalEntry, 'method' | 'path' | 'arrivedAt'>
type Progress = Partial<Omit<JournalEntry, 'number' | 'body' | keyof Arrival>> & {
  /** That what was sent is JSON: `raw` may be, and the bytes not. */
  readonly json?: boolean
}
/** Fills in what has become known of a call since it arrived. */
export type Note = (progress: Progress) => void

/** The same journal for those who write it. */
export type OpenJournal = Journal & { open(arrival: Arrival): Note }

/** A bound in entries alone would still let large bodies and long addresses fill the memory. */
const MAX_TEXT = 64 * 1024 * 1024

/**
 * The last calls, up to `size`, older ones are forgotten. An entry stands from the moment its call arrives, so
 * that a call that hangs can be seen hanging.
 */
export function makeJournal(size: number, maxText = MAX_TEXT): OpenJournal {
  let entries: JournalEntry[] = []
  let start = 0 // entries before it are forgotten, and cut off now and then instead of one by one
  let last = 0
  let text = 0

  function forget(): void {
    while (entries.length - start > size || (text > maxText && entries.length - start > 1)) {
      text -= lengthOf(entries[start])
      start += 1
    }
    if (start > size) {
      entries = entries.slice(start)
      start = 0
    }
  }

  return {
    get last() {
      return last
    },
    open(arrival) {
      last += 1
      let isJson = false
      const entry = {
        ...arrival,
        ...UNTOUCHED,
        number: last,
        // Parsed, a body takes twenty times the memory of its text.
        get body(): unknown {
          return isJson ? parsed(entry.raw) : undefined
        },
      }
      entries.push(entry)
      text += lengthOf(entry)
      forget()
      return ({ json = isJson, ...progress }) => {
        const before = lengthOf(entry)
        Object.assign(entry, progress)
        isJson = json
        // A call that was forgotten while it hung is no longer counted.
        if (isKept(entry.number)) text += lengthOf(entry) - before
        forget()
      }
    },
    list({ after = 0, userId, limit = Number.POSITIVE_INFINITY } = {}) {
      const first = entries[start]?.number ?? 1
      const found: JournalEntry[] = []
      for (
        let i = start + Math.max(0, after + 1 - first);
        i < entries.length && found.length < limit;
        i += 1
      ) {
        const entry = entries[i]
        if (entry !== undefined && (userId === undefined || entry.userId === userId)) found.push(entry)
      }
      return found
    },
    clear() {
      entries = []
      start = 0
      text = 0
    },
  }

  function isKept(number: number): boolean {
    return number >= (entries[start]?.number ?? Number.POSITIVE_INFINITY)
  }
}

const UNTOUCHED = {
  userId: null,
  answeredAt: null,
  raw: '',
  status: null,
  stored: false,
  faults: [],
}

/** What comes from outside and may be long. */
function lengthOf(entry: JournalEntry | undefined): number {
  return entry === undefined ? 0 : entry.raw.length + entry.path.length + (entry.userId?.length ?? 0)
}

function parsed(raw: string): unknown {
  const read = readBody(Buffer.from(raw))
  return read.kind === 'json' ? read.value : undefined
}
