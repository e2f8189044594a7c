// A room page by page, over whatever answers a query (section 4.1): the order in a page, its limit and whether the
// pivot is in it are not shown, so nothing of that is relied on.
//
// Why nothing is lost. Let the service have one order of the room in which created_at never steps back, and answer
// with the block that follows the pivot in it. Then:
//   1. What was seen is always a block that follows the start: a pivot is one of it, and a page goes on from there.
//   2. The last of that block is among the farthest by created_at, so among those that are tried before the end.
//   3. When it was tried nothing new came (else it would not be the last): so nothing follows, the room has ended.
// Seconds tie and it cannot be seen which of them is the last, therefore all of them are tried if need be.
import type { List, Message, MessageQuery, PageQuery } from './chat.ts'
import type { CallOptions } from './client.ts'
import { CallError } from './errors.ts'

const DEFAULT_LIMIT = 50

export type ListMessages = (query: MessageQuery, options?: CallOptions) => Promise<List<Message>>

/**
 * The messages of a room in one direction, each once, without the pivot to begin with: page by page, inside a
 * page the nearest to the pivot first. One call a page, made only when what came before has been taken. It ends
 * when no message is left whose page could bring anything new. No message is a pivot twice, so a service that
 * pays no heed to pivot, limit or direction is not asked for ever: one call for each message that it shows, and
 * one more. Messages that cannot be read are passed over; more of them in a row than a page holds end it.
 *
 * Rejects as `list` does, and with CallError `aborted` as soon as the signal is.
 */
export async function* pageMessages(
  list: ListMessages,
  { room, pivot: start, direction, limit = DEFAULT_LIMIT }: PageQuery,
  options: CallOptions = {},
): AsyncGenerator<Message, void, void> {
  const seen = new Set(start === undefined ? [] : [start])
  const frontier = makeFrontier(direction, start)
  let pivot = start
  do {
    stopIfAborted(options)
    const query = { room, limit, older: direction === 'older', ...(pivot === undefined ? {} : { pivot }) }
    const { items } = await list(query, options)
    const fresh = unseen(items, seen)
    frontier.note(items, new Set(fresh))
    for (const message of nearestFirst(fresh, direction)) {
      stopIfAborted(options)
      yield message
    }
    pivot = frontier.next()
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

type Direction = PageQuery['direction']

function nearestFirst(messages: readonly Message[], direction: Direction): readonly Message[] {
  const sign = direction === 'older' ? -1 : 1
  return messages.toSorted((a, b) => sign * (a.createdAt.getTime() - b.createdAt.getTime()))
}

type Frontier = {
  /** Takes in a page; `fresh` are those of it that were not seen before. */
  note(page: readonly Message[], fresh: ReadonlySet<Message>): void
  /** The next pivot, never the same again; undefined when there is none left. */
  next(): string | undefined
}

/**
 * The farthest moment that was seen, and which messages of it were not a pivot yet. Any order of trying them
 * would do; the far end of the latest page comes first, because there the most is new.
 */
function makeFrontier(direction: Direction, start: string | undefined): Frontier {
  const sign = direction === 'older' ? -1 : 1
  let farthest = Number.NEGATIVE_INFINITY
  let untried = new Set<string>() // the most promising last
  const tried = new Set([start])
  let oldestFirst = true // as in the document's sample, until a page shows otherwise

  return {
    note(page, fresh) {
      const [first, last] = [page[0]?.createdAt.getTime() ?? 0, page.at(-1)?.createdAt.getTime() ?? 0]
      if (first !== last) oldestFirst = first < last
      for (const message of oldestFirst === (direction === 'newer') ? page : page.toReversed()) {
        const { messageId, createdAt } = message
        const distance = sign * createdAt.getTime()
        if (fresh.has(message) && distance > farthest) {
          farthest = distance
          untried = new Set()
        }
        if (fresh.has(message) ? distance === farthest : untried.has(messageId)) {
          untried.delete(messageId)
          untried.add(messageId)
        }
      }
      // Where a message bears a time of its own, what follows it lies nearer: the page's ends lead on.
      const farther = [...fresh].some(({ createdAt }) => sign * createdAt.getTime() === farthest)
      if (farther || fresh.size === 0) return
      for (const end of [page[0], page.at(-1)])
        if (end && !tried.has(end.messageId)) untried.add(end.messageId)
    },
    next() {
      const pivot = [...untried].at(-1)
      if (pivot !== undefined) {
        untried.delete(pivot)
        tried.add(pivot)
      }
      return pivot
    },
  }
}
