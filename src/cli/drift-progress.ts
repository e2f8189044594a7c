import process from 'node:process'
import { createLogUpdate } from 'log-update'
import { sayBar, sayProgress } from './say-drift-progress.ts'

/** How far a run has come. */
export type Progress = {
  readonly done: number
  readonly of: number
  /** Customers who differ, confirmed; an ended trial is none. */
  readonly drifting: number
  /** Of whom a second look is to come, or another try. */
  readonly waiting: number
}

export type Showing = {
  update(progress: Progress): void
  close(): void
}

const FRAME_MS = 200
const LINE_MS = 5000

type Options = {
  readonly err: (line: string) => void
  readonly env: NodeJS.ProcessEnv
  /** Milliseconds. */
  readonly now: () => number
}

/** On stderr: the data on stdout stays what it is. A bar in a terminal, and a line now and then elsewhere. */
export function showProgress({ err, env, now }: Options): Showing {
  const startedAt = now()
  let first: Progress | null = null
  let shown: Progress | null = null
  const pace = () => ({ before: first?.done ?? 0, elapsedMs: now() - startedAt })
  const live = process.stderr.isTTY === true && !env.CI && env.TERM !== 'dumb'
  const bar = live ? createLogUpdate(process.stderr) : null
  let said = ''
  const draw = () => {
    if (shown === null) return
    if (bar) return bar(sayBar(shown, { ...pace(), columns: process.stderr.columns ?? 80 }))
    const line = sayProgress(shown, pace())
    // The same again tells nothing.
    if (line !== said) err(line)
    said = line
  }
  const timer = setInterval(draw, bar ? FRAME_MS : LINE_MS)
  return {
    update(progress) {
      first ??= progress
      shown = progress
    },
    close() {
      clearInterval(timer)
      bar?.clear()
      bar?.done()
    },
  }
}
