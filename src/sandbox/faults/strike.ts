// What a fault does to a call instead of its own answer.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { errorBody } from '../answer.ts'
import { htmlPage } from '../send.ts'
import type { Ending } from './faults.ts'
import { refuseFor } from './outage.ts'

/** Of the endings, `slow-body` alone leaves the answer as it is. */
type Blow = Exclude<Ending, { kind: 'slow-body' }>

/** Whether it keeps the call from being carried out. */
export function strikesFirst(ending: Blow): boolean {
  switch (ending.kind) {
    case 'down':
    case 'refuse':
    case 'drop-before':
      return true
    case 'status':
      return !ending.stored
    case 'drop-after':
    case 'hang-after':
      return false
    default:
      return ending satisfies never
  }
}

type Struck = {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly stopping: AbortSignal
}

export function strike(ending: Blow, { request, reply, stopping }: Struck): unknown {
  switch (ending.kind) {
    case 'down':
    case 'drop-before':
    case 'drop-after':
      return cut(request, reply)
    case 'refuse':
      // Nobody waits for its end; a port that cannot be opened again is no secret, though: it ends the process.
      void refuseFor(request.server.server, { durationMs: ending.durationMs, stopping })
      return cut(request, reply)
    case 'hang-after':
      return reply.hijack()
    case 'status':
      return answerWith(ending, reply)
    default:
      return ending satisfies never
  }
}

function cut(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.hijack()
  request.raw.socket.destroy()
  return reply
}

function answerWith(ending: Extract<Ending, { kind: 'status' }>, reply: FastifyReply): unknown {
  const { status, body, retryAfter } = ending
  if (retryAfter !== undefined) reply.header('retry-after', retryAfterHeader(retryAfter, Date.now()))
  reply.code(status)
  if (body === 'empty') return reply.send()
  if (body === 'html') return reply.type('text/html').send(htmlPage(String(status)))
  return reply.send(errorBody('fault', 'A fault that was asked for.'))
}

/** A date in the header has whole seconds; it is rounded up, so that nobody comes back early. */
export function retryAfterHeader(
  { form, seconds }: { form: 'seconds' | 'date'; seconds: number },
  now: number,
): string {
  return form === 'seconds' ? String(seconds) : new Date(Math.ceil(now / 1000 + seconds) * 1000).toUTCString()
}
