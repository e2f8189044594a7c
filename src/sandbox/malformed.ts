// What is no request: bytes that are not HTTP, a head beyond all bounds, one that does not arrive in time.
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { type Answer, refuse } from './answer.ts'
import { write } from './send.ts'

export type Malformed = {
  /** To be told of every request: what is under way on its connection is answered first. */
  readonly onRequest: (request: IncomingMessage, response: ServerResponse) => void
  /** Node's `clientError`. */
  readonly onClientError: (error: { readonly code?: string }, socket: Socket) => void
}

/**
 * Refuses what cannot be read in the form of all errors, and closes the connection. Calls of the same connection that
 * had arrived whole are carried out, so their answers come before it: a caller would take it for theirs.
 */
export function makeMalformed(): Malformed {
  const underWay = new WeakMap<Socket, Set<ServerResponse>>()
  const refused = new WeakSet<Socket>()
  return {
    onRequest({ socket }, response) {
      const here = underWay.get(socket) ?? new Set()
      underWay.set(socket, here.add(response))
      response.once('close', () => here.delete(response))
    },
    onClientError({ code }, socket) {
      // Whatever else comes over it cannot be read either.
      if (refused.has(socket)) return
      refused.add(socket)
      const last = [...(underWay.get(socket) ?? [])].findLast(({ req }) => req.complete)
      if (last === undefined) end(socket, refusalOf(code))
      else last.once('close', () => end(socket, refusalOf(code)))
    },
  }
}

/** @param code of Node's error */
export function refusalOf(code: string | undefined): Answer {
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

/** A connection that was cut, or that the answer before closes, is told nothing. */
function end(socket: Socket, { status, body }: Answer): void {
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
