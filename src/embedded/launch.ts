// What every embedded server has in common: a port, and the wait until it answers.
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { RollcallError } from '../model/errors.ts'
import type { Guardian, Running } from './guarded.ts'
import type { Command } from './guardian.ts'
import { freePort, isFree } from './port.ts'

export type EmbeddedServer = AsyncDisposable & {
  readonly url: string
  readonly port: number
  readonly running: Running
  /** Starts it once more, on the same port, after it has ended. */
  again(): Promise<Running>
  /** For good: nothing of it is left. */
  stop(): Promise<void>
}

export type Recipe = {
  readonly name: string
  readonly command: (port: number) => Command
  readonly url: (port: number) => string
  /** Rejects for as long as the server does not answer there. */
  readonly ask: (url: string) => Promise<void>
}

const START_WITHIN_MS = 60_000

/** @throws RollcallError EMBEDDED_FAILED with the end of the server's log. */
export async function launch(guardian: Guardian, recipe: Recipe): Promise<EmbeddedServer> {
  const { port, running } = await startSomewhere(guardian, recipe)
  return {
    url: recipe.url(port),
    port,
    running,
    again: () => startAt(guardian, recipe, port),
    stop: guardian.release,
    [Symbol.asyncDispose]: guardian.release,
  }
}

/** Another process may have taken the free port before it is used: then another one. */
async function startSomewhere(guardian: Guardian, recipe: Recipe) {
  for (let tries = 1; ; tries += 1) {
    const port = await freePort()
    try {
      return { port, running: await startAt(guardian, recipe, port) }
    } catch (error) {
      if (tries === 5 || (await isFree(port))) throw error
    }
  }
}

async function startAt(guardian: Guardian, recipe: Recipe, port: number): Promise<Running> {
  const command = recipe.command(port)
  const running = await startOrExplain(guardian, recipe.name, command)
  let over = false
  running.ended.then(() => {
    over = true
  })
  const end = performance.now() + START_WITHIN_MS
  while (!over && performance.now() < end) {
    // Whatever the reason of a failure, it is not up yet: its own end or the time tells when to stop asking.
    const answered = await recipe.ask(recipe.url(port)).then(
      () => true,
      () => false,
    )
    if (answered && !over) return running
    await sleep(20)
  }
  if (!over) await running.end('SIGKILL')
  throw await failed(recipe.name, command.log)
}

async function startOrExplain(guardian: Guardian, name: string, command: Command): Promise<Running> {
  try {
    return await guardian.start(command)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new RollcallError('EMBEDDED_FAILED', [`${name}: ${why}`], { cause })
  }
}

/** Runs a command to its end; used for what has to happen before the server can start. */
export async function runOnce(guardian: Guardian, name: string, command: Command): Promise<void> {
  const running = await startOrExplain(guardian, name, command)
  const { code } = await running.wait()
  if (code !== 0) throw await failed(name, command.log)
}

async function failed(name: string, log: string): Promise<RollcallError> {
  const text = await readFile(log, 'utf8').catch(() => '')
  const lines = text.split('\n').filter(Boolean).slice(-12)
  return new RollcallError('EMBEDDED_FAILED', lines.length ? lines : [`${name} ended without a word`])
}
