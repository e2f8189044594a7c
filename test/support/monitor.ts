// Every command that a Redis server carries out, over a socket of our own: a client that reads replies loses count when
// what it monitors arrives together with the reply to MONITOR.
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { until } from './until.ts'

export type Monitor = Disposable & {
  readonly heard: readonly { readonly database: string; readonly text: string }[]
}

/** One line of MONITOR: `+1700000000.123456 [0 127.0.0.1:6379] "set" "key" "value"`; `lua` in place of an address. */
const LINE = /^\+\d+\.\d+ \[(\d+) [^\]]*\] (.*)$/

export async function monitor(url: string): Promise<Monitor> {
  const { hostname, port, username, password } = new URL(url)
  const socket = connect(Number(port), hostname)
  const heard: { database: string; text: string }[] = []
  let replies = 0
  createInterface({ input: socket }).on('line', (line) => {
    const found = LINE.exec(line)
    if (found) heard.push({ database: found[1] ?? '', text: unescaped(found[2] ?? '') })
    else replies += line === '+OK' ? 1 : Number.NaN
  })
  const login = password === '' ? [] : [['AUTH', username || 'default', decodeURIComponent(password)]]
  const commands = [...login, ['MONITOR']]
  for (const words of commands) socket.write(`${words.map((word) => JSON.stringify(word)).join(' ')}\r\n`)
  await until(() => replies === commands.length, { what: 'MONITOR is answered' })
  return { heard, [Symbol.dispose]: () => void socket.destroy() }
}

/** Arguments as they were sent: quotes and bytes that are no letters are escaped. */
function unescaped(text: string): string {
  return text.replaceAll(/\\(?:x([0-9a-f]{2})|(.))/g, (_, hex: string | undefined, letter: string) =>
    hex === undefined ? (LETTERS[letter] ?? letter) : String.fromCharCode(Number.parseInt(hex, 16)),
  )
}

const LETTERS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', a: '\u0007', b: '\b' }
