import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

export const HOST = '127.0.0.1'

/**
 * A free port below the range that systems take for outgoing connections, so that nobody is given it while a
 * server is being restarted. Somebody may still be faster: `isFree` tells afterwards.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries += 1) {
    const port = randomInt(15_000, 32_000)
    if (await isFree(port)) return port
  }
  throw new Error(`no free port on ${HOST}`)
}

export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ port, host: HOST, exclusive: true }, () => server.close(() => resolve(true)))
  })
}
