// Numbers and times as a report says them, the same in every language setting.

const WHOLE = new Intl.NumberFormat('en-GB')

export function figure(count: number): string {
  return WHOLE.format(count)
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${figure(count)} ${count === 1 ? one : many}`
}

/** Never "0 %" while there is some, and never "100 %" while something is missing: a reader stops at those two. */
export function percent(share: number): string {
  if (share <= 0) return '0 %'
  if (share >= 1) return '100 %'
  const value = share * 100
  if (value < 0.01) return '< 0.01 %'
  if (value > 99.99) return '> 99.99 %'
  return `${Number(value.toFixed(value < 1 || value > 99 ? 2 : 1))} %`
}

export function minute(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`
}

/** The day once, where it is the same: `2026-11-22 02:00 to 02:41 UTC`. */
export function fromTo(from: string, to: string): string {
  const [start, end] = [minute(from), minute(to)]
  if (start === end) return end
  const [day = '', time = ''] = start.split(' ')
  return end.startsWith(day) ? `${day} ${time} to ${end.slice(day.length + 1)}` : `${start} to ${end}`
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
  ['millisecond', 1],
] as const

/** In the largest unit of which there are two, or just one: 90 minutes must not read as two hours. */
export function lasting(ms: number): string {
  const [unit, size] = UNITS.find(([, size]) => ms === size || ms >= 2 * size) ?? ['millisecond', 1]
  return counted(Math.round((10 * ms) / size) / 10, unit)
}

const UNIT = 'UTC\\b|customers?\\b|days?\\b|hours?\\b|minutes?\\b|seconds?\\b'
const BETWEEN = new RegExp(`(?<=\\d) (?=%|${UNIT})|(?<=[<>]) (?=\\d)`, 'g')

/** With no line break between a figure and its unit: for the page, and nothing that is copied into a shell. */
export function tied(text: string): string {
  return text.replace(BETWEEN, '\u00a0')
}
