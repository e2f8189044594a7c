// A room page by page, over whatever answers a query (section 4.1): the order in a page, its limit and whether the
// pivot is in it are not shown, so nothing of that is relied on.
//
// Nothing is lost, as long as created_at never steps back in the service's own order: the last message that was seen is
// among the farthest by created_at. Seconds tie, so each of the farthest is a pivot before the room counts as read.
import type { MessageQuery, PageQuery } from './chat.ts'
import type { List, Message } from './chat-read.ts'
import type { CallOptions } from './client.ts'
import { CallError } from './errors.ts'

const DEFAULT_LIMIT = 50

export type ListMessages = (query: MessageQuery, options?: CallOptions) => Promise<List<Message>>

/**
 * The messages of a room in one direction, each once, without the pivot to begin with; inside a page the nearest to the
 * pivot first. One call a page, made only when the page before has been taken. No message is a pivot twice, so it ends
 * even where the service ignores pivot, limit or direction. Messages that cannot be read are passed over; more of them in
 * a row than a page holds end it.
 *
 * Rejects as `list` does, and with CallError `aborted` as soon as the signal is.
 */
export async function* pageMessages(
  list: ListMessages,
  { room, pivot: start, direction, limit = DEFAULT_LIMIT }: PageQuery,
  options: CallOptions = {},
): AsyncGenerator<Message, void, void> {
  const distance = ({ createdAt }: Message) => (direction === 'older' ? -1 : 1) * createdAt.getTime()
  const seen = new Set(start === undefined ? [] : [start])
  let farthest: readonly Message[] = [] // not a pivot yet, the most promising last
  let oldestFirst = true // as in the document's sample, until a page shows otherwise
  let pivot = start
  do {
    stopIfAborted(options)
    const query = { room, limit, older: direction === 'older', ...(pivot === undefined ? {} : { pivot }) }
    const { items } = await list(query, options)
    const [first, last] = [items[0]?.createdAt.getTime() ?? 0, items.at(-1)?.createdAt.getTime() ?? 0]
    if (first !== last) oldestFirst = first < last
    const outwards = oldestFirst === (direction === 'newer') ? items : items.toReversed()
    const fresh = unseen(outwards, seen).toSorted((a, b) => distance(a) - distance(b))
    for (const message of fresh) {
      stopIfAborted(options)
      yield message
    }
    const candidates = [...farthest, ...fresh]
    const most = Math.max(...candidates.map(distance))
    farthest = candidates.filter((message) => distance(message) === most)
    pivot = farthest.at(-1)?.messageId
    farthest = farthest.slice(0, -1)
  } while (pivot !== undefined)
}

function stopIfAborted({ signal }: CallOptions): void {
  if (signal?.aborted === true) throw new CallError('aborted', 'no')
}

/** Those that are new, each once; they count as seen from now on. */
function unseen(items: readonly Message[], seen: Set<string>): readonly Message[] {
  return items.filter(({ messageId }) => {
    if (seen.has(messageId)) return false
    seen.add(messageId)
    return true
  })
}
