// The fault `refuse`: nobody is there for a while.
import { once } from 'node:events'
import type { Server } from 'node:http'
import { wait as waitFor } from './wait.ts'

/** How soon a port that somebody else holds is tried again: for as short a time an outgoing connection may. */
const RETRY_MS = 100

type Outage = {
  readonly durationMs: number
  readonly stopping: AbortSignal
  /** Resolves after the time, or when the sandbox stops. */
  readonly wait?: typeof waitFor
}

/**
 * Cuts every connection and closes the port, and opens the same port again when the time is over or the sandbox
 * stops (then it stays closed). Not `down` for everybody: what is refused was surely not sent, and a caller may
 * treat that differently from a connection that was cut.
 */
export async function refuseFor(
  server: Server,
  { durationMs, stopping, wait = waitFor }: Outage,
): Promise<void> {
  const bound = server.address()
  if (bound === null || typeof bound === 'string') return // closed already
  server.close()
  server.closeAllConnections()
  await wait(durationMs, stopping)
  while (!stopping.aborted && !(await listens(server, { host: bound.address, port: bound.port }))) {
    await wait(RETRY_MS, stopping)
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
