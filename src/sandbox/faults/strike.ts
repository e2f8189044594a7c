// What a fault does to a call: a blow in place of the answer, a body that takes its time, a closed port.
import { once } from 'node:events'
import type { Server } from 'node:http'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { errorBody, errorPage, type SandboxAnswer, send, write } from '../answer.ts'
import type { FaultEnding } from './faults.ts'

/** `slow-body` is the only ending that leaves the answer as it is. */
type Blow = Exclude<FaultEnding, { kind: 'slow-body' }>

/** Whether it keeps the call from being carried out. */
export function strikesFirst(ending: Blow): boolean {
  if (ending.kind === 'status') return !ending.stored
  return ending.kind !== 'drop-after' && ending.kind !== 'hang-after'
}

type Struck = {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly stopping: AbortSignal
}

export function strike(ending: Blow, { request, reply, stopping }: Struck): unknown {
  if (ending.kind === 'status') return answerWith(ending, reply)
  reply.hijack()
  if (ending.kind === 'hang-after') return reply
  if (ending.kind === 'refuse') {
    // A port that cannot be opened again ends the process, so that the failure is seen.
    void refuseFor(request.server.server, { durationMs: ending.durationMs, stopping })
  }
  request.raw.socket.destroy()
  return reply
}

function answerWith(ending: Extract<FaultEnding, { kind: 'status' }>, reply: FastifyReply): unknown {
  const { status, body, retryAfter } = ending
  if (retryAfter !== undefined) reply.header('retry-after', retryAfterHeader(retryAfter, Date.now()))
  reply.code(status)
  if (body === 'empty') return reply.send()
  if (body === 'html') return reply.type('text/html').send(errorPage(String(status)))
  return reply.send(errorBody('fault', 'A fault that was asked for.'))
}

/** A date has whole seconds; it is rounded up, so that no caller comes back early. */
export function retryAfterHeader(
  { form, seconds }: { form: 'seconds' | 'date'; seconds: number },
  now: number,
): string {
  return form === 'seconds' ? String(seconds) : new Date(Math.ceil(now / 1000 + seconds) * 1000).toUTCString()
}

/** Resolves after the time, or at once when the sandbox stops. */
export async function wait(ms: number, stopping: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal: stopping }).catch((error: unknown) => {
    if (!stopping.aborted) throw error
  })
}

/** How soon a port that another process holds is tried again; an outgoing connection may hold it for a moment. */
const RETRY_MS = 100

type Outage = {
  readonly durationMs: number
  readonly stopping: AbortSignal
  /** Resolves after the time, or when the sandbox stops. */
  readonly wait?: (ms: number, stopping: AbortSignal) => Promise<void>
}

/**
 * Cuts every connection and closes the port, and opens it again after the time, unless the sandbox stops. Not the same
 * as `down`: a refused call was surely not sent, and a caller may treat that differently from a cut connection.
 */
export async function refuseFor(
  server: Server,
  { durationMs, stopping, wait: pass = wait }: Outage,
): Promise<void> {
  const bound = server.address()
  if (bound === null || typeof bound === 'string') return // closed already
  server.close()
  server.closeAllConnections()
  await pass(durationMs, stopping)
  while (!stopping.aborted && !(await listens(server, { host: bound.address, port: bound.port }))) {
    await pass(RETRY_MS, stopping)
  }
  // It may have stopped while the port was being opened.
  if (stopping.aborted) server.close()
}

async function listens(server: Server, where: { host: string; port: number }): Promise<boolean> {
  try {
    server.listen(where)
    await once(server, 'listening')
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return false
    throw error
  }
}

/** Status and headers go out at once; an answer without a body is sent as always. */
export function sendSlowly(reply: FastifyReply, answer: SandboxAnswer, durationMs: number): unknown {
  const written = write(answer.body)
  if (written === null) return send(reply, answer)
  const bytes = Buffer.from(written.text)
  reply.code(answer.status).type(written.type).header('content-length', bytes.length)
  return reply.send(drip(bytes, durationMs))
}

/** Short enough that no caller takes it for silence. */
const PIECE_MS = 50

/**
 * The bytes in equal pieces, the first at once and the last after `durationMs`; at least two where there are two bytes.
 * A late piece does not delay the next. Destroying the stream, as Fastify does when the connection ends, leaves no
 * timer behind.
 */
export function drip(
  bytes: Buffer,
  durationMs: number,
  now: () => number = () => performance.now(),
): Readable {
  const count = Math.min(bytes.length, Math.max(2, Math.ceil(durationMs / PIECE_MS) + 1))
  const gapMs = durationMs / Math.max(1, count - 1)
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
