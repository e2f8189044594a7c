import { readBody } from '../service/json.ts'

/** `path` as sent, still percent-encoded; `arrivedAt`: when the head of the request had arrived. */
type Arrival = { readonly method: string; readonly path: string; readonly arrivedAt: number }

const UNTOUCHED = {
  /** From the path, or from the body of a create; null when there is none. */
  userId: null as string | null,
  /** When the answer was handed to the connection; null as long as there is none. */
  answeredAt: null as number | null,
  /** Null while there is no answer, and for ever when the connection was cut. */
  status: null as number | null,
  /** Whether the call changed what the sandbox holds, answered or not. */
  stored: false,
  /** Kinds of the faults that struck it. */
  faults: [] as readonly string[],
}

export type Journal = ReturnType<typeof makeJournal>
export type JournalNote = ReturnType<Journal['open']>
type Progress = Partial<typeof UNTOUCHED> & { readonly bytes?: Buffer }

type Asked = { readonly after?: number; readonly userId?: string | undefined; readonly limit?: number }

/**
 * The last `size` calls. An entry exists from the arrival of its call, so that a hanging call can be seen. Headers are
 * not in it, and so no credentials. Times in epoch milliseconds.
 */
export function makeJournal(size: number) {
  const entries = new Map<number, ReturnType<typeof makeEntry>['entry']>()
  let last = 0
  return {
    /** The number of the last entry; 0 before the first. */
    get last(): number {
      return last
    },
    open(arrival: Arrival) {
      last += 1
      const { entry, note } = makeEntry(arrival, last)
      entries.set(last, entry)
      entries.delete(last - size)
      return note
    },
    /** Entries in order of arrival: after a number, of one user, at most `limit`. */
    list({ after = 0, userId, limit = Number.POSITIVE_INFINITY }: Asked = {}) {
      return [...entries.values()]
        .filter((entry) => entry.number > after && (userId === undefined || entry.userId === userId))
        .slice(0, limit)
    },
    clear: () => entries.clear(),
  }
}

/** @param number from 1, in the order of arrival; never used twice, not even after a clear */
function makeEntry(arrival: Arrival, number: number) {
  let sent: Buffer = Buffer.alloc(0)
  const entry = {
    ...{ ...arrival, ...UNTOUCHED, number },
    /** The body as text, '' when there was none; bytes that are not UTF-8 are shown as U+FFFD. */
    get raw(): string {
      return sent.toString('utf8')
    },
    /** Undefined when what was sent is not JSON. Parsed, a body takes twenty times the memory of its bytes. */
    get body(): unknown {
      const read = readBody(sent)
      return read.kind === 'json' ? read.value : undefined
    },
  }
  const note = ({ bytes = sent, ...progress }: Progress): void => {
    sent = bytes
    Object.assign(entry, progress)
  }
  return { entry, note }
}
