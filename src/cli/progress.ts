// How far a command has come, for a person who waits: one line redrawn in a terminal, a line now and then elsewhere.
import { createLogUpdate } from 'log-update'
import { counted, figure } from '../report/figures.ts'
import type { Io } from './io.ts'
import { span, TERMINAL_COLUMNS } from './render.ts'

type ProgressState = {
  readonly verb: string
  readonly done: number
  readonly total: number | null
  /** How many were done when it began, by an earlier command. */
  readonly from?: number
  readonly note?: string
  /** Why nothing moves at this moment, in the place of the rate, which would tell of a time that is over. */
  readonly halt?: string | null
}

export type Progress = ReturnType<typeof openProgress>

const FRAME_MS = 100
const LINE_MS = 5000
/** A rate over less than this says nothing. */
const LEAST_MS = 500

/** To be disposed of before anything else is written. */
export function openProgress({ err, screen }: Pick<Io, 'err' | 'screen'>) {
  const started = performance.now()
  let state: ProgressState | null = null
  let lastLine = ''
  const picture = screen ? createLogUpdate(screen) : null
  const draw = () => {
    if (!state) return
    const line = renderProgress(state, performance.now() - started)
    if (picture) picture(fitting(line, (screen?.columns ?? TERMINAL_COLUMNS) - 1))
    else if (line !== lastLine) err(line)
    lastLine = line
  }
  const timer = setInterval(draw, picture ? FRAME_MS : LINE_MS)
  timer.unref()
  return {
    show(next: ProgressState) {
      state = next
    },
    say(line: string) {
      picture?.clear()
      err(line)
    },
    [Symbol.dispose]() {
      clearInterval(timer)
      state = null
      picture?.clear()
      picture?.done()
    },
  }
}

/** A wrapped line would tear the picture apart. Its last parts are left out where they do not fit. */
function fitting(line: string, width: number): string {
  if (line.length <= width) return line
  const part = line.slice(0, Math.max(1, width) + 1).lastIndexOf(', ')
  return line.slice(0, part > 0 ? part : Math.max(1, width))
}

/** `1,200 of 5,000 checked (24 %), 400/s, 10 s left; 30 differ`; the rate is of this process alone. */
function renderProgress(state: ProgressState, elapsedMs: number): string {
  const { verb, done, from = 0, note, halt } = state
  // Customers without a row come after all who were counted: past the total it is not known how many are left.
  const total = state.total !== null && done <= state.total ? state.total : null
  const far = total
    ? `${figure(done)} of ${figure(total)} ${verb} (${Math.floor((done / total) * 100)} %)`
    : ''
  const parts = [far || `${counted(done, 'customer')} ${verb}`]
  const perSecond = (done - from) / (elapsedMs / 1000)
  if (halt) parts.push(halt)
  else if (elapsedMs >= LEAST_MS && done > from) {
    parts.push(`${perSecond < 10 ? perSecond.toFixed(1) : figure(Math.round(perSecond))}/s`)
    const leftMs = total === null ? 0 : ((total - done) / perSecond) * 1000
    if (leftMs >= 1000) parts.push(`${span(leftMs)} left`)
  }
  return parts.join(', ') + (note ? `; ${note}` : '')
}
