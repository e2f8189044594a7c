// Durations as people write them, in whole milliseconds.

/** The largest first. */
const UNITS: readonly (readonly [name: string, ms: number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
]

/** The form of a duration, for --help and for errors. */
export const DURATION_FORM = 'a number of milliseconds, or a time like 500ms, 2s, 5m, 3h or 14d'

/** Milliseconds; undefined for what is no duration. Whether it is too long is for the caller to say. */
export function readDuration(text: string): number | undefined {
  const [, figure, unit = 'ms'] = /^(\d{1,15})([a-z]{1,2})?$/.exec(text) ?? []
  const [, ms] = UNITS.find(([name]) => name === unit) ?? []
  return figure === undefined || ms === undefined ? undefined : Number(figure) * ms
}

/** In the largest unit that is exact, as `readDuration` takes it. */
export function renderDuration(ms: number): string {
  const [unit, size] = UNITS.find(([, size]) => ms >= size && ms % size === 0) ?? ['ms', 1]
  return `${ms / size}${unit}`
}
