// Answers that are odd by the way in which they are sent.
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** The answer of the service's own dialect. */
export type Right = { readonly status: number; readonly headers: Headers; readonly text: string }
export type Headers = Readonly<Record<string, string | string[]>>

type Raw = (socket: Socket, right: Right) => void

/** Not what HTTP has; afterwards the connection is cut. */
export const BROKEN: readonly (readonly [string, Raw])[] = [
  ['cut at once', () => undefined],
  ['no HTTP', (socket) => socket.write('220 mail.example.com ESMTP\r\n')],
  ['a broken header', (socket) => socket.write('HTTP/1.1 200 OK\r\nbro ken\r\n\r\n')],
  ['half a head', (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-ty')],
  [
    'another protocol',
    (socket) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n'),
  ],
  [
    'chunks without end',
    (socket, { text }) => socket.write(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunk(text)}`),
  ],
  [
    'less than was promised',
    (socket, { text }) =>
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${text.length + 50}\r\n\r\n${text}`),
  ],
  [
    'two lengths',
    (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}'),
  ],
  ['an unheard-of status', (socket) => socket.write('HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n')],
  ['a status of two digits', (socket) => socket.write('HTTP/1.1 20 OK\r\ncontent-length: 0\r\n\r\n')],
]

/** Unusual on the wire, and still the right answer. */
export const UNUSUAL: readonly (readonly [string, (res: ServerResponse, right: Right) => void])[] = [
  [
    'after 1xx',
    (res, right) => {
      res.writeContinue()
      res.writeProcessing()
      res.writeEarlyHints({ link: '</s.css>; rel=preload' })
      answer(res, right)
    },
  ],
  ['a byte order mark', (res, right) => answer(res, { ...right, text: right.text && `\ufeff${right.text}` })],
  ['a wrong type', (res, right) => answer(res, { ...right, headers: { 'Content-TYPE': 'text/html' } })],
  [
    'trailers',
    (res, { status, text }) => {
      res.writeHead(status, { trailer: 'x-sum', 'transfer-encoding': 'chunked' })
      res.write(text)
      res.addTrailers({ 'x-sum': '1', 'retry-after': '9' })
      res.end()
    },
  ],
  [
    'odd headers',
    (res, right) => {
      const headers = {
        'X-ODD': ['a', 'b'],
        'set-cookie': ['a=1', 'b=2'],
        'retry-after': 'soon',
        date: 'never',
        server: 'ö',
      }
      answer(res, { ...right, headers: { ...right.headers, ...headers, server: 'odd' } })
    },
  ],
  [
    'letter by letter',
    (res, { status, text }) => {
      res.writeHead(status)
      for (const letter of text) res.write(letter)
      res.end()
    },
  ],
  [
    'until the connection ends',
    (res, { status, text }) => {
      res.socket?.end(`HTTP/1.0 ${status} Fine\r\n\r\n${text}`)
    },
  ],
]

type Given = { readonly status: number; readonly headers: Headers; readonly text: string | Buffer }

/** Without headers that have no value, which Node would not send. */
export function answer(res: ServerResponse, { status, headers, text }: Given): void {
  const given = Object.entries(headers).filter(([, value]) => isAscii(value))
  res.writeHead(status, Object.fromEntries(given))
  res.end(text)
}

function isAscii(value: string | string[]): boolean {
  return [value].flat().every((each) => /^[\x20-\x7e]*$/.test(each))
}

function chunk(text: string): string {
  const bytes = text || ' '
  return `${Buffer.byteLength(bytes).toString(16)}\r\n${bytes}\r\n`
}
