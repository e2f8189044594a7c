// A process between us and a server that we start, so that no server and no folder is left behind. It lives as long as
// its channel to us is open, since even a SIGKILLed parent closes that. Then it stops the server, removes the folder and
// ends. It is started detached, in a session of its own, so that Ctrl-C reaches us and not the server.
//
//   node guardian.js <terms as JSON>      orders and reports go over Node's channel between processes
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { rm } from 'node:fs/promises'

export type Terms = {
  /** Removed at the end, with everything in it. */
  readonly folder: string
  /** Ends the server when we go. */
  readonly lastSignal: NodeJS.Signals
  /** How long a server may take to end after it, before it is killed, in milliseconds. */
  readonly deadlineMs: number
}

export type Command = {
  readonly file: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Both of its outputs are appended here. */
  readonly log: string
  readonly uid?: number
  readonly gid?: number
}

export type Ended = { readonly code: number | null; readonly signal: NodeJS.Signals | null }

export type Order = { readonly start: Command } | 'leave'

export type GuardianReport =
  | { readonly started: number }
  | { readonly refused: string }
  | { readonly ended: Ended }

const terms: Terms = JSON.parse(process.argv[2] ?? '')
let running: ChildProcess | undefined

function start({ file, args, log, ...as }: Command): void {
  // One that has not answered in time.
  running?.kill('SIGKILL')
  const output = openSync(log, 'a', 0o600)
  const child = spawn(file, args, { ...as, cwd: terms.folder, stdio: ['ignore', output, output] })
  closeSync(output)
  child.once('spawn', () => report({ started: child.pid ?? 0 }))
  const end = (words: GuardianReport) => {
    if (running !== child) return
    running = undefined
    report(words)
  }
  child.once('error', ({ message }) => end({ refused: message }))
  child.once('exit', (code, signal) => end({ ended: { code, signal } }))
  running = child
}

function report(words: GuardianReport): void {
  // No process reads it any more once the parent is gone.
  process.send?.(words, () => undefined)
}

let leaving = false
async function leave(): Promise<void> {
  if (leaving) return
  leaving = true
  if (running) {
    const ended = once(running, 'close')
    running.kill(terms.lastSignal)
    setTimeout((server) => server.kill('SIGKILL'), terms.deadlineMs, running)
    await ended
  }
  // A killed Postgres leaves children that still write for a moment, and so may an initdb: hence the retries.
  await rm(terms.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
  process.exit(0)
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, leave)
process.on('disconnect', leave)
// We may have gone before it listened.
if (!process.connected) void leave()
process.on('message', (order: Order) => {
  if (order === 'leave') void leave()
  else start(order.start)
})
