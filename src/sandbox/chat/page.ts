// Which messages of a room a query gets, and in which order (section 4.1).
import type { MessageWire } from '../../service/chat-schema.ts'
import type { Contract } from '../contract/contract.ts'

/** Neither default nor maximum is shown (section 8): these are the sandbox's choice. */
export const DEFAULT_LIMIT = 20
/** Who asks for more gets so many. */
export const MAX_LIMIT = 100
export const DEFAULT_OLDER = true

export type PageRequest = {
  readonly pivot?: string | undefined
  readonly limit: number
  /** True: those right before the pivot; false: those right after it. Without a pivot: the last, or the first. */
  readonly older: boolean
}

/**
 * `limit` messages next to the pivot, and the pivot besides where the contract includes it. Null when the room has
 * no such message. Oldest first, as in the document's sample, unless the contract says otherwise.
 */
export function pageOf(
  messages: readonly MessageWire[],
  { pivot, limit, older }: PageRequest,
  contract: Pick<Contract, 'order' | 'pivot'>,
): readonly MessageWire[] | null {
  if (pivot === undefined) return order(older ? messages.slice(-limit) : messages.slice(0, limit), contract)
  const spot = messages.findIndex(({ message_id: id }) => id === pivot)
  if (spot === -1) return null
  const own = contract.pivot === 'included' ? 1 : 0
  const page = older
    ? messages.slice(Math.max(0, spot - limit), spot + own)
    : messages.slice(spot + 1 - own, spot + 1 + limit)
  return order(page, contract)
}

function order(
  page: readonly MessageWire[],
  { order: how }: Pick<Contract, 'order'>,
): readonly MessageWire[] {
  switch (how) {
    case 'oldest-first':
      return page
    case 'newest-first':
      return page.toReversed()
    case 'shuffled':
      // By an id that has nothing to do with time: no order to rely on, and yet the same one each time.
      return page.toSorted((a, b) => (a.message_id < b.message_id ? -1 : 1))
    default:
      return how satisfies never
  }
}
