// The common parts of every embedded server: our side of its guardian, a port, and the wait until it answers.
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, extname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { RollcallError } from '../model/errors.ts'
import type { Command, Ended, GuardianReport, Order, Terms } from './guardian.ts'

type Guardian = ReturnType<typeof guard>
export type EmbeddedServer = Awaited<ReturnType<typeof launch>>

type Recipe = {
  readonly name: string
  readonly command: (port: number) => Command
  readonly url: (port: number) => string
  /** Rejects for as long as the server does not answer there. */
  readonly ask: (url: string) => Promise<void>
}

export const HOST = '127.0.0.1'
const START_WITHIN_MS = 60_000

/**
 * @throws RollcallError EMBEDDED_FAILED with the end of the server's log; to release the guardian is then the
 * caller's part.
 */
export async function launch(guardian: Guardian, recipe: Recipe) {
  for (let tries = 1; ; tries += 1) {
    const port = await freePort()
    const again = () => startAt(guardian, recipe, port)
    try {
      return {
        running: await again(),
        url: recipe.url(port),
        port,
        /** Starts it once more, on the same port, after it has ended. */
        again,
        /** For good: nothing of it is left. */
        stop: guardian.release,
        [Symbol.asyncDispose]: guardian.release,
      }
    } catch (error) {
      // Another process may have taken the free port before it was used: then another one.
      if (tries === 5 || (await isFree(port))) throw error
    }
  }
}

async function startAt(guardian: Guardian, recipe: Recipe, port: number) {
  const { name, url, ask } = recipe
  const command = recipe.command(port)
  const running = await guardian.start(command).catch((cause: Error) => {
    throw new RollcallError('EMBEDDED_FAILED', [`${name}: ${cause.message}`], { cause })
  })
  let over = false
  running.ended.then(() => {
    over = true
  })
  const end = performance.now() + START_WITHIN_MS
  while (!over && performance.now() < end) {
    // Whatever the reason of a failure, it is not up yet: its own end or the time tells when to stop asking.
    const isSilent = await ask(url(port)).catch(() => true)
    if (!isSilent && !over) return running
    await sleep(20)
  }
  throw embeddedFailed(name, await readFile(command.log, 'utf8').catch(() => ''))
}

export function embeddedFailed(name: string, log: string): RollcallError {
  const lines = log.split('\n').filter(Boolean).slice(-12)
  return new RollcallError('EMBEDDED_FAILED', lines.length ? lines : [`${name} ended without a word`])
}

/**
 * A free port below the range that systems take for outgoing connections, so that no process is given it while a
 * server is being restarted. Another process may still be faster: `isFree` tells afterwards.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries += 1) {
    const port = randomInt(15_000, 32_000)
    if (await isFree(port)) return port
  }
  throw new Error(`no free port on ${HOST}`)
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ port, host: HOST, exclusive: true }, () => server.close(() => resolve(true)))
  })
}

/** This file's own ending tells whether we run from the sources or from the bundle, where it lies in another folder. */
const PROGRAM = fileURLToPath(new URL(`../embedded/guardian${extname(import.meta.url)}`, import.meta.url))

export function guard(terms: Terms) {
  const child = spawn(process.execPath, [PROGRAM, JSON.stringify(terms)], {
    cwd: dirname(terms.folder),
    detached: true,
    env: {},
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  child.unref()
  child.channel?.unref()
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  let hear: (report: GuardianReport) => void = () => undefined
  child.on('message', (report) => hear(report as GuardianReport))
  // An order to a guardian that is gone fails; `gone` is what is acted upon.
  const give = (order: Order) => child.send(order, () => undefined)

  return {
    pid: child.pid ?? 0,
    /** @throws Error when the file cannot be run. */
    async start(command: Command) {
      const started = Promise.withResolvers<number>()
      const ended = Promise.withResolvers<Ended>()
      gone.then(() => {
        started.reject(new Error('the guardian of the server has ended'))
        ended.resolve({ code: null, signal: null })
      })
      hear = (report) => {
        if ('started' in report) started.resolve(report.started)
        else if ('refused' in report) started.reject(new Error(report.refused))
        else ended.resolve(report.ended)
      }
      give({ start: command })
      return {
        pid: await awake(started.promise),
        /** Resolves when it ends, for whatever reason; never rejects. */
        ended: ended.promise,
      }
    },
    /** Ends what runs and removes the folder. */
    release(): Promise<void> {
      give('leave')
      return awake(gone)
    },
  }
}

/**
 * A server that is not stopped must not keep us alive; our end ends it. But while its guardian owes an answer, we must
 * not run out of things to do either.
 */
async function awake<T>(promise: Promise<T>): Promise<T> {
  const something = setInterval(() => undefined, 60_000)
  try {
    return await promise
  } finally {
    clearInterval(something)
  }
}
