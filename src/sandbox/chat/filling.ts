// Messages to page through: a room's worth of them at once, of every type and from both sides.
import type { Content, Draft } from './conversations.ts'

/** So many share a second, as messages that are typed fast do. */
const BURST = 3
const BETWEEN_BURSTS_MS = 47_000
/** The last ones are not read yet. */
const UNREAD = 5

/**
 * The last of them is of now, and the same number gives the same messages. The last one is the professional's, so
 * that there is always something unread.
 */
export function makeDrafts(count: number, now: number): readonly Draft[] {
  return Array.from({ length: count }, (_, index) => {
    const age = count - 1 - index
    return {
      from: age % 2 === 0 ? ('professional' as const) : ('user' as const),
      content: contentOf(index + 1),
      status: age >= UNREAD ? ('read' as const) : age > 1 ? ('received' as const) : ('sent' as const),
      at: now - Math.floor(age / BURST) * BETWEEN_BURSTS_MS,
    }
  })
}

function contentOf(number: number): Content {
  if (number % 5 === 4) {
    return {
      type: 'image',
      image_url: `https://sandbox.invalid/images/${number}.jpg`,
      image_thumb_url: `https://sandbox.invalid/images/${number}-small.jpg`,
      image_width: '1280',
      image_height: '960',
    }
  }
  if (number % 5 === 0) {
    return {
      type: 'file',
      file_url: `https://sandbox.invalid/files/${number}.pdf`,
      file_name: `document-${number}.pdf`,
      file_size: String(40 + (number % 300)),
    }
  }
  return { type: 'text', text: `Message ${number}` }
}
