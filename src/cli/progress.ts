// How far something has come, where somebody waits for it: a bar in a terminal, a line now and then elsewhere.

import { createLogUpdate } from 'log-update'
import { figure } from '../report/figures.ts'
import type { Io } from './io.ts'
import { span, TERMINAL_COLUMNS } from './render.ts'

type ProgressState = {
  /** What is done to them: "looked at". */
  readonly verb: string
  readonly done: number
  /** Null: not known. */
  readonly total: number | null
  /** How many were done when it began, by an earlier command. */
  readonly from: number
  readonly note: string
  /** Why nobody is done at this moment: it stands in the place of the rate, which would tell of a time that is over. */
  readonly halt?: string | null
}

export type Progress = {
  show(standing: ProgressState): void
  /** A line that stays. */
  say(line: string): void
  close(): void
}

const FRAME_MS = 100
const LINE_MS = 5000
/** A rate over less than this says nothing. */
const LEAST_MS = 500

/** Ends with `close`, before anything else is written. */
export function openProgress(io: Pick<Io, 'err' | 'screen'>, now: () => number): Progress {
  const started = now()
  let shown: ProgressState | null = null
  let told = ''
  const { screen } = io
  const picture = screen ? createLogUpdate(screen) : null
  const draw = () => {
    if (!shown) return
    if (picture) return picture(sayBar(shown, now() - started, screen?.columns ?? TERMINAL_COLUMNS))
    const line = sayStanding(shown, now() - started)
    if (line !== told) io.err(line)
    told = line
  }
  const timer = setInterval(draw, picture ? FRAME_MS : LINE_MS)
  timer.unref()
  return {
    show(standing) {
      shown = standing
    },
    say(line) {
      picture?.clear()
      io.err(line)
    },
    close() {
      clearInterval(timer)
      shown = null
      picture?.clear()
      picture?.done()
    },
  }
}

/** `1,200 of 5,000 customers looked at (24 %), 400/s, 10 s left; 30 differ` */
export function sayStanding(standing: ProgressState, elapsedMs: number): string {
  const { verb, done, from, note, halt = null } = standing
  const total = totalOf(standing)
  const of = total === null ? '' : ` of ${figure(total)}`
  const parts = [
    `${figure(done)}${of} customers ${verb}${percent(done, total)}`,
    ...pace({ done, total, from, halt }, elapsedMs),
  ]
  return [parts.join(', '), ...(note === '' ? [] : [note])].join('; ')
}

const BAR = 16

/** One line, whatever the terminal's width: a wrapped one would tear the picture apart. */
export function sayBar(standing: ProgressState, elapsedMs: number, columns: number): string {
  const { verb, done, note } = standing
  const total = totalOf(standing)
  const share = total ? done / total : 0
  const filled = Math.floor(share * BAR)
  const bar =
    total === null ? '' : `[${'#'.repeat(filled)}${'.'.repeat(BAR - filled)}] ${Math.floor(share * 100)} %  `
  const parts = [
    `${figure(done)} ${verb}`,
    ...pace({ ...standing, total }, elapsedMs),
    ...(note === '' ? [] : [note]),
  ]
  return `${bar}${parts.join('  ')}`.slice(0, Math.max(1, columns - 1))
}

function percent(done: number, total: number | null): string {
  return total ? ` (${Math.floor((done / total) * 100)} %)` : ''
}

/** Who has a record and no row comes after all who were counted: past the total, nobody knows how many are left. */
function totalOf({ done, total }: Pick<ProgressState, 'done' | 'total'>): number | null {
  return total !== null && done > total ? null : total
}

type Pacing = Pick<ProgressState, 'done' | 'total' | 'from' | 'halt'>

/** Rate and time left, by this process alone. */
function pace({ done, total, from, halt }: Pacing, elapsedMs: number): string[] {
  if (halt) return [halt]
  if (elapsedMs < LEAST_MS || done <= from) return []
  const perSecond = (done - from) / (elapsedMs / 1000)
  const rate = perSecond < 10 ? perSecond.toFixed(1) : figure(Math.round(perSecond))
  const left = total === null || total <= done ? [] : [`${span(((total - done) / perSecond) * 1000)} left`]
  return [`${rate}/s`, ...left]
}
