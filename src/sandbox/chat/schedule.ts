// When a professional is connected, decided from the schedules alone (sections 2.2 and 2.4). All times are UTC.
import { WEEKDAYS } from '../../service/chat.ts'
import type { ScheduleWire } from '../../service/chat-schema.ts'

const MINUTE_MS = 60_000
const DAY = 1440
const WEEK = 7 * DAY
/** The first of January 1970 was a Thursday, three days after the week's start. */
const EPOCH = 3 * DAY

/** In minutes since Monday, 0:00, until the end of Sunday at most; the end is not part of it. */
export type Span = { readonly start: number; readonly end: number }

/** Epoch milliseconds, on the minute. */
export type Standing =
  | { readonly status: 'online'; readonly disconnectsAt: number | null }
  | { readonly status: 'offline'; readonly connectsAt: number | null }

/**
 * Whether the schedules have the professional connected at a moment, and when that changes. Null where it never
 * does: nobody without a period ever connects, and nobody who is there all week ever disconnects. Periods that
 * touch are one, whether within a day or across midnight (an end of `0:00` is the day's end), because nobody
 * disconnects between them. 23:59 does not touch 0:00.
 */
export function standingAt(schedules: readonly ScheduleWire[], epochMs: number): Standing {
  const minute = Math.floor(epochMs / MINUTE_MS)
  const now = (((minute + EPOCH) % WEEK) + WEEK) % WEEK
  const at = (spot: number) => (minute - now + spot) * MINUTE_MS
  const spans = joinSpans(schedules.flatMap(spansOf))
  const current = spans.find(({ start, end }) => start <= now && now < end)
  if (current !== undefined) {
    return { status: 'online', disconnectsAt: isWholeWeek(current) ? null : at(endOf(current, spans)) }
  }
  const next = spans.find(({ start }) => start > now)?.start ?? startOfNextWeek(spans)
  return { status: 'offline', connectsAt: next === null ? null : at(next) }
}

/** The periods that a day has: equal start and end make none, nor does an end before the start. */
function spansOf(schedule: ScheduleWire): readonly Span[] {
  const day = WEEKDAYS.indexOf(schedule.day) * DAY
  return periodsOf(schedule)
    .filter(({ start, end }) => start < end)
    .map(({ start, end }) => ({ start: day + start, end: day + end }))
}

/** In minutes since midnight. */
export function periodsOf(schedule: ScheduleWire): readonly [Span, Span] {
  const { start_first_period, end_first_period, start_second_period, end_second_period } = schedule
  return [period(start_first_period, end_first_period), period(start_second_period, end_second_period)]
}

/** `0:00` as an end is the day's end, but where it is the start as well there is no period. */
function period(from: string, to: string): Span {
  const start = minutes(from)
  const end = minutes(to)
  return { start, end: end === 0 && start > 0 ? DAY : end }
}

function minutes(text: string): number {
  const [hour = 0, minute = 0] = text.split(':').map(Number)
  return hour * 60 + minute
}

/** In order, and one where they overlap or touch. */
function joinSpans(spans: readonly Span[]): readonly Span[] {
  const joined: Span[] = []
  for (const span of spans.toSorted((a, b) => a.start - b.start)) {
    const last = joined.at(-1)
    if (last === undefined || span.start > last.end) joined.push(span)
    else joined[joined.length - 1] = { start: last.start, end: Math.max(last.end, span.end) }
  }
  return joined
}

function isWholeWeek({ start, end }: Span): boolean {
  return end - start === WEEK
}

/** Sunday's last period goes on into Monday when that begins at midnight. */
function endOf({ end }: Span, spans: readonly Span[]): number {
  const first = spans[0]
  return end === WEEK && first?.start === 0 ? WEEK + first.end : end
}

function startOfNextWeek(spans: readonly Span[]): number | null {
  const first = spans[0]
  return first === undefined ? null : WEEK + first.start
}
