// Where the demo is shown: a live view in a terminal, or plain lines.
import process from 'node:process'
import { styleText } from 'node:util'
import { createLogUpdate } from 'log-update'
import type { Meter } from './meter.ts'
import { type DemoTone, type Paint, renderFigures, renderPhase, renderView, stamp } from './view.ts'

export type Screen = {
  readonly paint: Paint
  /** Another phase, or another step of setting up, is in the meter. */
  announce(): void
  /** Lines that stay. */
  print(lines: readonly string[]): void
  /** Ends the drawing and removes the view; lines can still be printed. */
  close(): void
}

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
} as const satisfies Record<DemoTone, Parameters<typeof styleText>[0]>

/** Colours unless the terminal has none or NO_COLOR is set. */
export function terminalScreen(meter: Meter, now: () => number): Screen {
  const terminal = process.stdout
  const paint: Paint = (tone, text) => styleText(STYLES[tone], text, { stream: terminal })
  const picture = createLogUpdate(terminal)
  const draw = () => {
    const { columns = 80, rows = 24 } = terminal
    picture(renderView(meter, { columns, rows, now: now(), paint }).join('\n'))
  }
  const timer = setInterval(draw, FRAME_MS)
  return {
    paint,
    announce() {},
    print(lines) {
      // log-update would break a long line: a printed address has to stay whole to be copied.
      picture.clear()
      terminal.write(`${lines.join('\n')}\n`)
    },
    close() {
      clearInterval(timer)
      picture.clear()
      picture.done()
    },
  }
}

/** For logs and pipes: figures are written when they have changed. */
export function plainScreen(meter: Meter, now: () => number, write: (line: string) => void): Screen {
  let last = ''
  const timer = setInterval(() => {
    if (meter.snapshot === null) return
    const figures = renderFigures(meter, meter.snapshot)
    if (figures !== last) write(`${stamp(now() - meter.startedAt)}      ${figures}`)
    last = figures
  }, FIGURES_MS)
  return {
    paint: (_tone, text) => text,
    announce: () => write(renderPhase(meter, now())),
    print(lines) {
      for (const line of lines) write(line)
    },
    close: () => clearInterval(timer),
  }
}
