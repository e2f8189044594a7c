// How far a command has come, for a person who waits: one line redrawn in a terminal, a line now and then elsewhere.
import { clearLine, cursorTo } from 'node:readline'
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

export type Progress = Pick<ReturnType<typeof openProgress>, 'show'>

const FRAME_MS = 100
const LINE_MS = 5000
/** A rate over less than this says nothing. */
const LEAST_MS = 500

/**
 * A person at a terminal sees at once that it begins, so the work may load its modules only then. Lines that it prints
 * on its `err` do not tear the picture.
 */
export async function withProgress<T>(io: Io, work: (io: Io, progress: Progress) => Promise<T>): Promise<T> {
  using progress = openProgress(io)
  return await work({ ...io, err: progress.say }, progress)
}

function openProgress({ err, screen }: Io) {
  let begun: { readonly at: number; readonly state: ProgressState } | null = null
  let lastLine = ''
  const draw = () => {
    if (!begun) return
    const line = renderProgress(begun.state, performance.now() - begun.at)
    if (line === lastLine) return
    lastLine = line
    if (!screen) return err(line)
    clear()
    screen.write(fitting(line, (screen.columns ?? TERMINAL_COLUMNS) - 1))
  }
  screen?.write('starting')
  const timer = setInterval(draw, screen ? FRAME_MS : LINE_MS)
  timer.unref()
  return {
    show(state: ProgressState) {
      begun = { at: begun?.at ?? performance.now(), state }
    },
    say(line: string) {
      clear()
      lastLine = ''
      err(line)
    },
    [Symbol.dispose]() {
      clearInterval(timer)
      clear()
    },
  }

  function clear(): void {
    if (!screen) return
    cursorTo(screen, 0)
    clearLine(screen, 0)
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
