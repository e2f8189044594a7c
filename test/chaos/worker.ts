// A worker process that is started again whenever it ends, as a supervisor does.
import { setTimeout as sleep } from 'node:timers/promises'
import type { House } from '../support/house.ts'
import { runRollcall } from '../support/process.ts'

/** A worker promises to end within ten seconds after a SIGTERM, but the machine may be slow. */
const END_MS = 60_000
const UP_MS = 60_000
const AGAIN_MS = 300
const SAID = 3000

export type Supervised = AsyncDisposable & {
  readonly name: string
  /** How often it was started. */
  readonly lives: number
  /** In words: that it ended by itself, or did not end when it was told to. */
  readonly found: readonly string[]
  /** Resolves when it works, or could have for long. */
  up(signal: AbortSignal): Promise<void>
  /** Resolves when it has ended; another one is started. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>
  suspend(ms: number): Promise<void>
  /** In good order, and for good. */
  finish(): Promise<void>
}

export async function superviseWorker(
  name: string,
  house: Pick<House, 'authored' | 'env'>,
): Promise<Supervised> {
  const found: string[] = []
  let lives = 1
  let asked: NodeJS.Signals | null = null
  let finished = false
  let running = await runRollcall(house, ['worker'])

  const going = (async () => {
    for (;;) {
      const { code, signal } = await running.exited
      const said = `${code ?? signal}: ${running.output().slice(-SAID)}`
      if (asked === null) found.push(`${name} ended by itself with ${said}`)
      if (finished && code !== 0) found.push(`${name} did not end in good order, but with ${said}`)
      await running[Symbol.asyncDispose]()
      if (finished) return
      await sleep(AGAIN_MS)
      asked = null
      running = await runRollcall(house, ['worker'])
      lives += 1
    }
  })()
  going.catch(() => undefined)

  const end = async (signal: 'SIGKILL' | 'SIGTERM') => {
    const mine = running
    asked = signal
    mine.kill(signal)
    const late = setTimeout(() => {
      found.push(`${name} did not end on ${signal}: ${mine.output().slice(-SAID)}`)
      mine.kill('SIGKILL')
    }, END_MS)
    await mine.exited
    clearTimeout(late)
  }
  const finish = async () => {
    finished = true
    await end('SIGTERM')
    await going
  }
  return {
    name,
    get lives() {
      return lives
    },
    found,
    async up(signal) {
      const until = performance.now() + UP_MS
      while (!signal.aborted && performance.now() < until) {
        if (running.output().includes('the worker runs')) return
        await sleep(200)
      }
    },
    end,
    async suspend(ms) {
      const mine = running
      mine.kill('SIGSTOP')
      await sleep(ms)
      mine.kill('SIGCONT')
    },
    finish,
    async [Symbol.asyncDispose]() {
      if (finished) return
      finished = true
      asked = 'SIGKILL'
      running.kill('SIGKILL')
      await going
    },
  }
}
