// Our side of the guardian: gives it orders, hears its reports.
import { type ChildProcess, spawn } from 'node:child_process'
import { dirname, extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Command, GuardianReport, Order, Terms } from './guardian.ts'

export type Ended = { readonly code: number | null; readonly signal: NodeJS.Signals | null }

export type Running = {
  readonly pid: number
  /** Resolves when it ends, for whatever reason; never rejects. */
  readonly ended: Promise<Ended>
  /** The same, keeping this process alive until then. */
  wait(): Promise<Ended>
  /** Resolves when it has ended, at the latest after the guardian's deadline. */
  end(signal: NodeJS.Signals): Promise<Ended>
}

export type Guardian = {
  readonly pid: number
  /** @throws Error when the file cannot be run. */
  start(command: Command): Promise<Running>
  /** Ends what runs and removes the folder. */
  release(): Promise<void>
}

/** This file's own ending tells whether we run from the sources or from what was built of them. */
const PROGRAM = fileURLToPath(new URL(`./guardian${extname(import.meta.url)}`, import.meta.url))

export function guard(terms: Terms): Guardian {
  const child = spawn(process.execPath, [PROGRAM, JSON.stringify(terms)], {
    cwd: dirname(terms.folder),
    detached: true,
    env: {},
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const hold = holder(child)

  let hear: (report: GuardianReport) => void = () => undefined
  child.on('message', (report) => hear(report as GuardianReport))
  // An order to a guardian that is gone fails; `gone` is what is acted upon.
  const give = (order: Order) => child.send(order, () => undefined)

  const start = async (command: Command): Promise<Running> => {
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
    const pid = await hold(started.promise)
    const wait = () => hold(ended.promise)
    const end = (signal: NodeJS.Signals) => {
      give({ signal })
      return wait()
    }
    return { pid, ended: ended.promise, wait, end }
  }

  const release = async () => {
    give('leave')
    await hold(gone)
  }
  return { pid: child.pid ?? 0, start, release }
}

/**
 * A server that nobody stops must not keep us alive (our end ends it), but while something is awaited from its
 * guardian we must not run out of things to do either.
 */
function holder(child: ChildProcess) {
  let waiting = 0
  child.unref()
  child.channel?.unref()
  return async <T>(promise: Promise<T>): Promise<T> => {
    if (waiting++ === 0) child.ref()
    try {
      return await promise
    } finally {
      if (--waiting === 0) child.unref()
    }
  }
}
