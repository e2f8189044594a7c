// The HTTP server without its endpoints: limits, errors, and input that is no request.
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import { refuse, type SandboxAnswer, send, write } from './answer.ts'
import { isJsonType } from './serve.ts'

/** A user is below 10 KiB with every field filled. */
const BODY_LIMIT = 64 * 1024
/** Every byte of a long id may be written as three. */
const ID_LIMIT = 16 * 1024

export function makeApp(): FastifyInstance {
  const malformed = makeMalformed()
  const app = Fastify({
    bodyLimit: BODY_LIMIT,
    exposeHeadRoutes: false,
    forceCloseConnections: true,
    // Otherwise Node answers a missing Host without a body.
    http: { requireHostHeader: false },
    // Ends the wait for a body that stops in the middle.
    requestTimeout: 60_000,
    routerOptions: { maxParamLength: ID_LIMIT },
    clientErrorHandler: malformed.onClientError,
    frameworkErrors: (_error, _request, reply: FastifyReply) =>
      send(reply, refuse(400, 'bad_request', 'The address cannot be read.')),
  })
  app.server.on('request', malformed.onRequest)
  app.addHook('onRequest', async ({ headers, raw }, reply) => {
    if (headers.host === undefined && raw.httpVersion === '1.1') {
      return send(reply, refuse(400, 'bad_request', 'The header Host is missing.'))
    }
    // Fastify refuses some content types before a handler sees the call; the sandbox treats all of them alike.
    if (!isJsonType(headers['content-type'])) headers['content-type'] = 'application/octet-stream'
  })
  // Bodies are read as bytes whatever their type, so that the journal shows them as they came.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.setNotFoundHandler((_request, reply) =>
    send(reply, refuse(404, 'not_found', 'There is no such endpoint.')),
  )
  app.setErrorHandler(({ statusCode = 500 }: { statusCode?: number }, _request, reply) =>
    send(reply, unhandled(statusCode)),
  )
  return app
}

function unhandled(status: number): SandboxAnswer {
  if (status === 413) return refuse(status, 'too_large', 'The body is too large.')
  if (status < 500) return refuse(status, 'bad_request', 'The request cannot be read.')
  return refuse(status, 'broken', 'The sandbox itself failed.')
}

/**
 * Refuses input that is no request in the form of all errors, and closes the connection. Earlier calls of the same
 * connection are answered first: their callers would take the refusal for their answer.
 */
export function makeMalformed() {
  const underWay = new WeakMap<Socket, Set<ServerResponse>>()
  const refused = new WeakSet<Socket>()
  return {
    onRequest({ socket }: IncomingMessage, response: ServerResponse): void {
      const here = underWay.get(socket) ?? new Set()
      underWay.set(socket, here.add(response))
      response.once('close', () => here.delete(response))
    },
    /** For Node's `clientError`. */
    onClientError({ code }: { readonly code?: string }, socket: Socket): void {
      // Everything after the first error is unreadable too.
      if (refused.has(socket)) return
      refused.add(socket)
      const last = [...(underWay.get(socket) ?? [])].findLast(({ req }) => req.complete)
      if (last === undefined) end(socket, refusalOf(code))
      else last.once('close', () => end(socket, refusalOf(code)))
    },
  }
}

/** @param code of Node's error */
export function refusalOf(code: string | undefined): SandboxAnswer {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return refuse(408, 'bad_request', 'The request did not arrive in time.')
    case 'HPE_HEADER_OVERFLOW':
      return refuse(431, 'too_large', 'The head of the request is too large.')
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return refuse(413, 'too_large', 'The body is too large.')
    default:
      return refuse(400, 'bad_request', 'The request cannot be read.')
  }
}

/** A connection that is closed already gets no answer. */
function end(socket: Socket, { status, body }: SandboxAnswer): void {
  const written = write(body)
  if (socket.writable && written !== null) {
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      `Content-Type: ${written.type}`,
      `Content-Length: ${Buffer.byteLength(written.text)}`,
      'Connection: close',
    ]
    socket.write(`${head.join('\r\n')}\r\n\r\n${written.text}`)
  }
  socket.destroySoon()
}
