import type { Content, Draft } from '../../src/sandbox/chat/conversations.ts'

/** Messages that are typed fast share a second. */
const BURST = 3
const BETWEEN_BURSTS_MS = 47_000
const UNREAD = 5

/** Messages to page through, of every type and from both sides. The last is of now, unread and from the professional. */
export function makeDrafts(count: number, now: number): readonly Draft[] {
  return Array.from({ length: count }, (_, index) => {
    const age = count - 1 - index
    return {
      from: age % 2 === 0 ? 'professional' : 'user',
      content: contentOf(index + 1),
      status: age >= UNREAD ? 'read' : age > 1 ? 'received' : 'sent',
      at: now - Math.floor(age / BURST) * BETWEEN_BURSTS_MS,
    }
  })
}

function contentOf(number: number): Content {
  const file = `https://sandbox.invalid/files/${number}`
  if (number % 5 === 4) {
    const size = { image_width: '1280', image_height: '960' }
    return { type: 'image', image_url: `${file}.jpg`, image_thumb_url: `${file}-small.jpg`, ...size }
  }
  if (number % 5 !== 0) return { type: 'text', text: `Message ${number}` }
  return {
    type: 'file',
    file_url: `${file}.pdf`,
    file_name: `document-${number}.pdf`,
    file_size: String(40 + (number % 300)),
  }
}
