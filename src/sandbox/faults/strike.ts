// Carries out a fault on a call: a blow in place of the answer, a body that takes its time, a closed port.
import { once } from 'node:events'
import type { Server } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { sleep } from '../../ops/time.ts'
import { html, refuse, type SandboxAnswer, send } from '../answer.ts'
import type { FaultEnding } from './faults.ts'

/** `slow-body` is the only ending that leaves the answer as it is. */
type Blow = Exclude<FaultEnding, { kind: 'slow-body' }>

/** Whether it keeps the call from being carried out. */
export function strikesFirst(ending: Blow): boolean {
  if (ending.kind === 'status') return !ending.stored
  return ending.kind !== 'drop-after' && ending.kind !== 'hang-after'
}

export function strike(ending: Blow, reply: FastifyReply, stopping: AbortSignal): unknown {
  if (ending.kind === 'status') return answerWith(ending, reply)
  reply.hijack()
  if (ending.kind === 'hang-after') return reply
  // A port that cannot be opened again ends the process, so that the failure is seen.
  if (ending.kind === 'refuse') void refuseFor(reply.server.server, ending.durationMs, stopping)
  reply.request.raw.socket.destroy()
  return reply
}

function answerWith(ending: Extract<FaultEnding, { kind: 'status' }>, reply: FastifyReply): unknown {
  const { status, body, retryAfter } = ending
  if (retryAfter !== undefined) reply.header('retry-after', retryAfterHeader(retryAfter, Date.now()))
  if (body === 'html') return send(reply, html(status))
  const answer = refuse(status, 'fault', 'A fault that was asked for.')
  return send(reply, body === 'empty' ? { ...answer, body: null } : answer)
}

/** A date has whole seconds; it is rounded up, so that no caller comes back early. */
export function retryAfterHeader(
  { form, seconds }: { form: 'seconds' | 'date'; seconds: number },
  now: number,
): string {
  return form === 'seconds' ? String(seconds) : new Date(Math.ceil(now / 1000 + seconds) * 1000).toUTCString()
}

/** How soon a port that another process holds is tried again; an outgoing connection may hold it for a moment. */
const RETRY_MS = 100

/**
 * Cuts every connection and closes the port, and opens it again after the time, unless the sandbox stops. Not the same
 * as `drop-before`: a refused call was surely not sent, and a caller may treat that differently from a cut connection.
 */
async function refuseFor(server: Server, durationMs: number, stopping: AbortSignal): Promise<void> {
  const bound = server.address()
  if (bound === null || typeof bound === 'string') return // closed already
  server.close()
  server.closeAllConnections()
  await sleep(durationMs, stopping)
  while (!stopping.aborted && !(await listens(server, { host: bound.address, port: bound.port }))) {
    await sleep(RETRY_MS, stopping)
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
export function sendSlowly(
  reply: FastifyReply,
  { status, body }: SandboxAnswer,
  { durationMs, stopping }: { readonly durationMs: number; readonly stopping: AbortSignal },
): unknown {
  if (body === null) return reply.code(status).send()
  const bytes = Buffer.from(body.text)
  reply.code(status).type(body.type).header('content-length', bytes.length)
  return reply.send(Readable.from(drip(bytes, durationMs, stopping), { objectMode: false }))
}

/** The first byte at once, the others after `durationMs`. */
async function* drip(bytes: Buffer, durationMs: number, stopping: AbortSignal): AsyncGenerator<Buffer> {
  yield bytes.subarray(0, 1)
  await sleep(durationMs, stopping)
  yield bytes.subarray(1)
}
