// A door to a server on this machine that a test opens and shuts: shut, connections are refused as if nothing ran
// there; deaf, they are taken and nothing is ever said; falling, a session that takes leave is told of a shutdown first.
import { connect, createServer, type Server, type Socket } from 'node:net'
import { freePort, HOST } from '../../src/embedded/launch.ts'

export type Relay = AsyncDisposable & {
  /** The server's address, through the door. */
  readonly url: string
  /** As messages name it. */
  readonly server: string
  open(mode?: 'through' | 'deaf' | 'falling'): Promise<void>
  shut(): Promise<void>
  /** Connections stay open, and nothing is passed on any more; a new connection is accepted and gets no answer. */
  hush(): void
  /** New connections are passed on from now on; those without an answer stay so. */
  heal(): void
}

const TERMINATE = Buffer.from('X\0\0\0\x04')
const FIELDS = Buffer.from('SFATAL\0C57P01\0Mterminating connection\0\0')
const SHUTDOWN = Buffer.concat([Buffer.from(['E'.charCodeAt(0), 0, 0, 0, 4 + FIELDS.length]), FIELDS])

/** Shut at first. */
export async function makeRelay(url: string): Promise<Relay> {
  const port = await freePort()
  const through = new URL(url)
  const to = { host: through.hostname, port: Number(through.port) }
  through.hostname = HOST
  through.port = String(port)
  const sockets = new Set<Socket>()
  let listening: Server | null = null
  let deaf = false

  const hold = (socket: Socket) => {
    sockets.add(socket)
    // If one side breaks, `close` breaks the other side.
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    return socket
  }
  const pass = (incoming: Socket, falling: boolean) => {
    const outgoing = hold(connect(to))
    if (falling)
      incoming.prependListener('data', (part) => part.equals(TERMINATE) && incoming.write(SHUTDOWN))
    incoming.on('close', () => outgoing.destroy())
    outgoing.on('close', () => incoming.destroy())
    incoming.pipe(outgoing).pipe(incoming)
  }
  const shut = async () => {
    const closed = listening && new Promise((resolve) => listening?.close(resolve))
    listening = null
    for (const socket of sockets) socket.destroy()
    await closed
  }
  return {
    url: through.href,
    server: `${HOST}:${port}`,
    async open(mode = 'through') {
      await shut()
      deaf = mode === 'deaf'
      const server = createServer((socket) => {
        hold(socket)
        if (!deaf) pass(socket, mode === 'falling')
      })
      listening = server
      await new Promise<void>((resolve) => server.listen(port, HOST, resolve))
    },
    shut,
    hush() {
      deaf = true
      for (const socket of sockets) socket.unpipe().pause()
    },
    heal() {
      deaf = false
    },
    [Symbol.asyncDispose]: shut,
  }
}
