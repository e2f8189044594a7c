// The fault `slow-body`: an answer whose body takes its time.
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { Answer } from '../answer.ts'
import { send, write } from '../send.ts'

/** Status and headers go out at once; an answer without a body is sent as ever. */
export function sendSlowly(reply: FastifyReply, answer: Answer, durationMs: number): unknown {
  const written = write(answer.body)
  if (written === null) return send(reply, answer)
  const bytes = Buffer.from(written.text)
  return reply
    .code(answer.status)
    .type(written.type)
    .header('content-length', bytes.length)
    .send(drip(bytes, durationMs))
}

/** Often enough that no caller could call it silence. */
const PIECE_MS = 50

/** Equal pieces, the first at once and the last after `durationMs`; at least two where there are two bytes. */
export function piecesOf(
  length: number,
  durationMs: number,
): { readonly count: number; readonly gapMs: number } {
  const count = Math.min(length, Math.max(2, Math.ceil(durationMs / PIECE_MS) + 1))
  return { count, gapMs: durationMs / Math.max(1, count - 1) }
}

/**
 * The bytes piece by piece; one that is late does not make the next ones late. Destroying it (fastify does so as soon
 * as the connection is gone, which is also how stopping ends it) leaves no timer behind.
 */
export function drip(
  bytes: Buffer,
  durationMs: number,
  now: () => number = () => performance.now(),
): Readable {
  const { count, gapMs } = piecesOf(bytes.length, durationMs)
  const startedAt = now()
  let next = 0
  let timer: NodeJS.Timeout | undefined
  const stream = new Readable({
    read() {
      if (next >= count) stream.push(null)
      else timer = setTimeout(pushNext, Math.max(0, startedAt + next * gapMs - now()))
    },
    destroy(error, done) {
      clearTimeout(timer)
      done(error)
    },
  })
  return stream

  function pushNext(): void {
    const [from, to] = [next, next + 1].map((index) => Math.floor((bytes.length * index) / count))
    next += 1
    stream.push(bytes.subarray(from, to))
  }
}
