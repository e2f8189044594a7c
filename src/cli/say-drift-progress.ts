import { figure, percent } from '../report/figures.ts'
import type { Progress } from './drift-progress.ts'
import { span } from './say-time.ts'

/** `before`: done by an earlier process; what it took says nothing of how fast this one is. */
type Pace = { readonly before: number; readonly elapsedMs: number }

const BAR = 24

/** One line, cut to the width of the terminal: a wrapped one would leave parts of itself behind. */
export function sayBar(
  progress: Progress,
  { columns, ...pace }: Pace & { readonly columns: number },
): string {
  const { done, of } = progress
  const filled = Math.round(BAR * shareOf(progress))
  const bar = `${'█'.repeat(filled)}${'░'.repeat(BAR - filled)}`
  const parts = [`${bar} ${figure(done)} of ${figure(of)}`, ...news(progress), ...timing(progress, pace)]
  const width = Math.max(1, columns - 1)
  // What stands last is what one can best do without.
  let line = parts[0] ?? ''
  for (const part of parts.slice(1)) if (`${line}, ${part}`.length <= width) line = `${line}, ${part}`
  return line.slice(0, width)
}

export function sayProgress(progress: Progress, pace: Pace): string {
  const { done, of } = progress
  const share = percent(shareOf(progress))
  return [
    `${figure(done)} of ${figure(of)} customers (${share})`,
    ...news(progress),
    ...timing(progress, pace),
  ].join(', ')
}

function news({ drifting, waiting }: Progress): string[] {
  return [
    ...(drifting > 0 ? [`${figure(drifting)} differ`] : []),
    ...(waiting > 0 ? [`${figure(waiting)} to look at again`] : []),
  ]
}

function timing({ done, of }: Progress, { before, elapsedMs }: Pace): string[] {
  const here = done - before
  if (here <= 0 || elapsedMs <= 0) return []
  const perSecond = (here * 1000) / elapsedMs
  const rate = perSecond >= 10 ? figure(Math.round(perSecond)) : perSecond.toFixed(1)
  const left = of > done ? [`about ${span(((of - done) * 1000) / perSecond)} left`] : []
  return [`${rate} a second`, ...left]
}

/** Customers join while it goes on. */
function shareOf({ done, of }: Progress): number {
  return of === 0 ? 1 : Math.min(1, done / of)
}
