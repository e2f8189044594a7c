// Worker processes that are started again whenever they end, as a supervisor does.
import { mkdtemp, open, readFile, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Ended, guard, type Running } from '../../src/embedded/guarded.ts'
import { freePort, HOST } from '../../src/embedded/port.ts'
import type { Ground } from './ground.ts'

export const BIN = fileURLToPath(new URL('../../src/cli/bin.ts', import.meta.url))

/** After a SIGTERM; a worker promises to end within ten seconds, but the machine may be slow. */
const END_MS = 60_000
const AGAIN_MS = 300
const SAID = 3000
const UP_MS = 60_000
const RUNS = 'the worker runs'

/** From its start to its end, in epoch milliseconds. */
export type Life = {
  readonly pid: number
  readonly from: number
  to: number | null
  ended: Ended | null
  /** What it was sent, but for SIGSTOP and SIGCONT. */
  asked: NodeJS.Signals | null
  /** The end of what it said, and where in the output it began to speak. */
  said: string
  readonly outputFrom: number
}
export type Suspension = { readonly pid: number; readonly from: number; to: number }

export type Supervised = AsyncDisposable & {
  readonly name: string
  /** Where it shows its metrics. */
  readonly metricsUrl: string
  readonly lives: readonly Life[]
  readonly suspensions: readonly Suspension[]
  /** Resolves when it works, or could have for long: a machine that is busy takes its time to start a process. */
  up(signal: AbortSignal): Promise<void>
  /** Resolves when it has ended; another one is started. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>
  suspend(ms: number): Promise<void>
  /** For good; resolves to how it ended. */
  finish(): Promise<Ended | null>
  output(): Promise<string>
}

/** A guardian ends the process when we are killed ourselves. */
export async function superviseWorker(name: string, ground: Ground): Promise<Supervised> {
  const folder = await mkdtemp(join(tmpdir(), 'rollcall-chaos-worker-'))
  const guardian = guard({ folder, lastSignal: 'SIGKILL', deadlineMs: END_MS })
  const log = join(folder, 'output')
  const port = String(await freePort())
  const command = {
    file: process.execPath,
    args: [BIN, 'worker', '--config', join(ground.folder, 'rollcall.config.js')],
    env: { PATH: process.env.PATH ?? '', LOG_LEVEL: 'trace', OPS_PORT: port, ...ground.env },
    log,
  }
  const lives: Life[] = []
  const suspensions: Suspension[] = []
  let running: Running | null = null
  let finished = false
  let suspended = false

  const output = () => readFile(log, 'utf8').catch(() => '')
  const going = (async () => {
    while (!finished) {
      const outputFrom = await stat(log).then(
        ({ size }) => size,
        () => 0,
      )
      const now = await guardian.start(command)
      const life: Life = {
        pid: now.pid,
        from: Date.now(),
        to: null,
        ended: null,
        asked: null,
        said: '',
        outputFrom,
      }
      lives.push(life)
      running = now
      life.ended = await now.wait()
      running = null
      life.to = Date.now()
      life.said = (await output()).slice(-SAID)
      if (!finished) await sleep(AGAIN_MS)
    }
  })()
  going.catch(() => undefined)

  const end = async (signal: 'SIGKILL' | 'SIGTERM') => {
    const life = lives.at(-1)
    if (!running || !life) return
    life.asked = signal
    await running.end(signal)
  }
  return {
    name,
    metricsUrl: `http://${HOST}:${port}/metrics`,
    lives,
    suspensions,
    async up(signal) {
      const end = performance.now() + UP_MS
      while (!signal.aborted && performance.now() < end) {
        const life = lives.at(-1)
        if (running && life && (await readFrom(log, life.outputFrom)).includes(RUNS)) return
        await sleep(200)
      }
    },
    end,
    async suspend(ms) {
      const life = lives.at(-1)
      if (!running || !life || suspended) return
      suspended = true
      const from = Date.now()
      if (!signal(life.pid, 'SIGSTOP')) {
        suspended = false
        return
      }
      const suspension = { pid: life.pid, from, to: Number.POSITIVE_INFINITY }
      suspensions.push(suspension)
      await sleep(ms)
      signal(life.pid, 'SIGCONT')
      suspension.to = Date.now()
      suspended = false
    },
    async finish() {
      finished = true
      await end('SIGTERM')
      await going
      return lives.at(-1)?.ended ?? null
    },
    output,
    async [Symbol.asyncDispose]() {
      finished = true
      await guardian.release()
    },
  }
}

/** Of a process's beginning. */
const BEGINNING = 20_000

async function readFrom(file: string, position: number): Promise<string> {
  await using handle = await open(file)
  const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(BEGINNING), position })
  return buffer.toString('utf8', 0, bytesRead)
}

/** False when it is gone. */
function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
    throw error
  }
}
