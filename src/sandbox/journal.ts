import { readBody } from '../service/json.ts'

/** One call as it came in. Headers are not in it, and so no credentials. */
type JournalEntry = {
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

export type Journal = ReturnType<typeof makeJournal>

type Arrival = Pick<JournalEntry, 'method' | 'path' | 'arrivedAt'>
/** Fills in what becomes known of a call. `json`: what was sent is JSON; `raw` may be JSON when the bytes are not. */
export type JournalNote = (
  progress: Partial<Omit<JournalEntry, 'number' | 'body' | keyof Arrival>> & { readonly json?: boolean },
) => void

type Asked = { readonly after?: number; readonly userId?: string | undefined; readonly limit?: number }

const UNTOUCHED = { userId: null, answeredAt: null, raw: '', status: null, stored: false, faults: [] }

/** The last `size` calls. An entry exists from the arrival of its call, so that a hanging call can be seen. */
export function makeJournal(size: number) {
  const entries = new Map<number, JournalEntry>()
  let last = 0

  return {
    /** The number of the last entry; 0 before the first. */
    get last(): number {
      return last
    },
    open(arrival: Arrival): JournalNote {
      last += 1
      let isJson = false
      const entry = {
        ...arrival,
        ...UNTOUCHED,
        number: last,
        // Parsed, a body takes twenty times the memory of its text.
        get body(): unknown {
          const read = isJson ? readBody(Buffer.from(entry.raw)) : undefined
          return read?.kind === 'json' ? read.value : undefined
        },
      }
      entries.set(last, entry)
      entries.delete(last - size)
      return ({ json = isJson, ...progress }) => {
        Object.assign(entry, progress)
        isJson = json
      }
    },
    /** Entries in order of arrival: after a number, of one user, at most `limit`. */
    list({ after = 0, userId, limit = Number.POSITIVE_INFINITY }: Asked = {}): readonly JournalEntry[] {
      return [...entries.values()]
        .filter((entry) => entry.number > after && (userId === undefined || entry.userId === userId))
        .slice(0, limit)
    },
    clear(): void {
      entries.clear()
    },
  }
}
