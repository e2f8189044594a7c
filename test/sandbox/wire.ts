// Bytes over a connection of one's own, for what no HTTP client would send.
import { once } from 'node:events'
import net from 'node:net'

/**
 * Everything that comes back until the other side closes. `cut`: our side is closed after these bytes, which Node
 * takes for a caller who has gone: calls that are under way are not answered any more.
 */
export async function exchange(url: string, bytes: string | Uint8Array, cut = true): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = net.connect(Number(port), hostname)
  socket.on('error', () => {}) // being cut is an answer as well
  const parts: Buffer[] = []
  socket.on('data', (part) => parts.push(part))
  await once(socket, 'connect')
  if (cut) socket.end(bytes)
  else socket.write(bytes)
  await once(socket, 'close')
  return Buffer.concat(parts).toString('latin1')
}

/** The statuses in what came back, informational ones included. */
export function statusesIn(answer: string): readonly number[] {
  return [...answer.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
}
