// Where the demo is shown: a picture that is drawn again and again, or plain lines.
import { styleText } from 'node:util'
import { createLogUpdate } from 'log-update'
import { type Line, type Paint, paintLine, type Tone, textOf } from './line.ts'
import type { Meter } from './meter.ts'
import { sayFigures, sayPhase } from './plain.ts'
import { view } from './view.ts'

export type Screen = {
  /** What is shown from now on; a screen draws it when it sees fit. */
  update(meter: Meter): void
  /** Lines that stay. */
  say(lines: readonly Line[]): void
  /** Ends the drawing and removes the picture; lines can still be said. */
  close(): void
}

/** A text terminal: what log-update needs of it. */
export type Terminal = NodeJS.WritableStream & { readonly columns?: number; readonly rows?: number }

const FRAME_MS = 100
const FIGURES_MS = 3000

const STYLES = {
  strong: 'bold',
  dim: 'dim',
  good: 'green',
  bad: 'red',
  create: 'green',
  replace: 'blue',
  patch: 'cyan',
  revoke: 'magenta',
  lookup: 'yellow',
} as const satisfies Record<Tone, Parameters<typeof styleText>[0]>

/** Colours unless the terminal has none or NO_COLOR is set. */
export function terminalScreen(terminal: Terminal, now: () => number): Screen {
  const paint: Paint = (tone, text) => styleText(STYLES[tone], text, { stream: terminal })
  const picture = createLogUpdate(terminal)
  let shown: Meter | null = null
  const painted = (lines: readonly Line[]) => lines.map((line) => paintLine(line, paint)).join('\n')
  const draw = () => {
    if (shown === null) return
    const { columns = 80, rows = 24 } = terminal
    picture(painted(view(shown, { columns, rows, now: now() })))
  }
  const timer = setInterval(draw, FRAME_MS)
  return {
    update(meter) {
      shown = meter
    },
    say(lines) {
      // Not by way of log-update, which breaks long lines: an address has to stay one to be copied.
      picture.clear()
      terminal.write(`${painted(lines)}\n`)
    },
    close() {
      clearInterval(timer)
      shown = null
      picture.clear()
      picture.done()
    },
  }
}

/** For logs and pipes: nothing is ever taken back. */
export function plainScreen(write: (line: string) => void, now: () => number): Screen {
  let shown: Meter | null = null
  let told = ''
  const figures = () => {
    const line = shown === null ? null : sayFigures(shown, now())
    const news = line?.slice(line.indexOf(' s ')) ?? ''
    // The same figures again tell nothing.
    if (line !== null && news !== told) write(line)
    told = news
  }
  const timer = setInterval(figures, FIGURES_MS)
  return {
    update(meter) {
      const begun = meter.phase !== shown?.phase
      shown = meter
      if (begun) write(sayPhase(meter, now()))
    },
    say(lines) {
      for (const line of lines) write(textOf(line))
    },
    close() {
      clearInterval(timer)
    },
  }
}
