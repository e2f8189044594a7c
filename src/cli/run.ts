import process from 'node:process'
import type { Io } from './io.ts'
import { main } from './main.ts'

/** For what is on its way to a terminal or a pipe. */
const LINGER_MS = 1000

/** Runs the command line in this process: streams, signals, exit code. */
export async function runCommandLine(): Promise<void> {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (stop.signal.aborted) process.exit(128 + (signal === 'SIGINT' ? 2 : 15))
      stop.abort()
    })
  }
  const io: Io = {
    out: (line) => void process.stdout.write(`${line}\n`),
    err: (line) => void process.stderr.write(`${line}\n`),
    env: process.env,
    cwd: process.cwd(),
    terminal: process.stdout.isTTY === true,
    stop: stop.signal,
    ...(drawsProgress() ? { screen: process.stderr } : {}),
  }
  // A reader that has seen enough (`| head`) is no error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
  process.exitCode = await main(process.argv.slice(2), io)
  // All is done and written; a library that goes on knocking at a server which is away must not keep the process.
  setTimeout(() => process.exit(), LINGER_MS).unref()
}

function drawsProgress(): boolean {
  return process.stderr.isTTY === true && !process.env.CI && process.env.TERM !== 'dumb'
}
