// Where the axis of the trend has its marks: at round times, and with a time of day where a day is long. Pure.

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const STEPS = [
  ...[1, 2, 5, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 3, 6, 12].map((hours) => hours * HOUR),
  ...[1, 2, 7, 14, 30, 91, 182, 365].map((days) => days * DAY),
]
/** A phone has room for so many. */
const MOST = 5

/** A label has a line for the time of day, and one for the day where it is another than at the mark before. */
type Tick = { readonly value: number; readonly label: readonly string[] }

/**
 * Round times from the first run to the last, in UTC as everywhere in a report. Runs of one day, as somebody makes them
 * who watches a repair, would otherwise all stand at the same date.
 */
export function timeTicks(from: number, to: number): readonly Tick[] {
  const step = STEPS.find((each) => (to - from) / each < MOST - 1) ?? (to - from) / (MOST - 2)
  const values: number[] = []
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) values.push(at)
  const marks = values.length > 0 ? values : [from]
  return marks.map((value, n) => {
    const { day, time } = partsOf(value)
    if (step >= DAY) return { value, label: [day] }
    const before = marks[n - 1]
    return { value, label: before !== undefined && partsOf(before).day === day ? [time] : [time, day] }
  })
}

function partsOf(value: number): { readonly day: string; readonly time: string } {
  const iso = new Date(value).toISOString()
  return { day: iso.slice(0, 10), time: iso.slice(11, 16) }
}
