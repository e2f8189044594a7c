// A server that a test lets fall, and starts again on the same port.
import { setTimeout as sleep } from 'node:timers/promises'
import type { EmbeddedServer } from '../../src/embedded/launch.ts'

export type FallingServer = EmbeddedServer & {
  /** Stops it in good order and starts it again; also starts it after `kill`. */
  restart(): Promise<void>
  /** SIGKILL, as when the machine runs out of memory. */
  kill(): Promise<void>
}

const RETRY_MS = 10_000

/** @param orderly the signal that stops it in good order */
export function falling(server: EmbeddedServer, orderly: NodeJS.Signals): FallingServer {
  let { running } = server
  let over = false
  async function end(signal: NodeJS.Signals): Promise<void> {
    if (!over) process.kill(running.pid, signal)
    over = true
    await running.ended
  }
  /** The children of a killed Postgres take a moment to go, and until then it refuses to start again. */
  async function startAgain(): Promise<void> {
    const end = performance.now() + RETRY_MS
    for (;;) {
      try {
        running = await server.again()
        over = false
        return
      } catch (error) {
        if (performance.now() > end) throw error
        await sleep(100)
      }
    }
  }
  return {
    ...server,
    get running() {
      return running
    },
    async restart() {
      await end(orderly)
      await startAgain()
    },
    kill: () => end('SIGKILL'),
  }
}
