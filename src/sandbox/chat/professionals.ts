// The professionals (sections 2.2 and 4.2): which of them a user sees, and when they are connected.
import { z } from 'zod'
import { WEEKDAYS } from '../../service/chat.ts'
import {
  type ProfessionalWire,
  professional,
  type RoomWire,
  type ScheduleWire,
} from '../../service/chat-schema.ts'
import { secondText } from '../clock.ts'

/** Section 2.2 without the fields that follow from clock and rooms. */
const professionalInput = professional
  .omit({ status: true, next_connection_at: true, next_disconnection_at: true, room: true })
  .extend({
    professional_id: professional.shape.professional_id.min(1),
    schedules: professional.shape.schedules.max(14),
    /** Seen only by users whose `ml_group_name` is one of them (2.6); null: by everybody. */
    groups: z.array(z.string().min(1), 'a list of texts, or null').nullable().default(null),
  })
export const professionalList = z.array(professionalInput).max(200)

export type ProfessionalInput = z.input<typeof professionalInput>
type StoredProfessional = z.output<typeof professionalInput>

export type Professionals = ReturnType<typeof makeProfessionals>

export function makeProfessionals(start: readonly ProfessionalInput[]) {
  const first: readonly StoredProfessional[] = professionalList.parse(start)
  let live = first
  return {
    all: () => live,
    get: (professionalId: string) => live.find(({ professional_id: id }) => id === professionalId),
    /** The professionals whom a user of this `ml_group_name` sees, in the order of the list. */
    seenBy: (group: string | null) =>
      live.filter(({ groups }) => groups === null || (group !== null && groups.includes(group))),
    /** Replaces them all; throws a ZodError when one is malformed, and then changes nothing. */
    set(list: readonly ProfessionalInput[]): void {
      live = professionalList.parse(list)
    },
    /** Back to the first list. */
    clear(): void {
      live = first
    },
  }
}

/** Section 2.2: status and what changes it next follow from the schedules and the moment. */
export function shownProfessional(
  { groups: _unseen, ...given }: StoredProfessional,
  { room, now }: { readonly room: RoomWire | null; readonly now: number },
): ProfessionalWire {
  const { status, changesAt } = presenceAt(given.schedules, now)
  const next = changesAt === null ? null : secondText(changesAt).slice(0, 16)
  return {
    ...given,
    status,
    next_connection_at: status === 'offline' ? next : null,
    next_disconnection_at: status === 'online' ? next : null,
    room,
  }
}

const MINUTE_MS = 60_000
const DAY = 1440
const WEEK = 7 * DAY
/** The first of January 1970 was a Thursday, three days after the week's start. */
const EPOCH = 3 * DAY

/** In minutes; the end is not part of it. */
type Span = { readonly start: number; readonly end: number }

/** `changesAt` in epoch milliseconds, on the minute; null: never. */
export type Presence = { readonly status: 'online' | 'offline'; readonly changesAt: number | null }

/**
 * Whether the schedules have the professional connected, and when that changes (section 2.4, all times UTC). Periods
 * that touch are one, within a day or across midnight: an end of `0:00` is the end of the day, 23:59 is not.
 */
export function presenceAt(schedules: readonly ScheduleWire[], epochMs: number): Presence {
  const minute = Math.floor(epochMs / MINUTE_MS)
  const now = (minute + EPOCH) % WEEK
  const spans = schedules.flatMap(spansOf)
  const isOnline = (at: number) => spans.some(({ start, end }) => start <= at && at < end)
  const edges = spans.flatMap(({ start, end }) => [start, end % WEEK])
  const changes = edges.filter((edge) => isOnline(edge) !== isOnline(now))
  const next = Math.min(...changes.map((edge) => (edge - now + WEEK) % WEEK))
  return {
    status: isOnline(now) ? 'online' : 'offline',
    changesAt: changes.length === 0 ? null : (minute + next) * MINUTE_MS,
  }
}

/** In minutes since Monday, 0:00. A period that ends before it starts, or as it starts, is none. */
function spansOf(schedule: ScheduleWire): readonly Span[] {
  const { start_first_period, end_first_period, start_second_period, end_second_period } = schedule
  const day = WEEKDAYS.indexOf(schedule.day) * DAY
  const periods = [
    [start_first_period, end_first_period],
    [start_second_period, end_second_period],
  ]
  return periods.flatMap((period) => {
    const [start = 0, last = 0] = period.map(minutes)
    const end = last === 0 && start > 0 ? DAY : last
    return start < end ? { start: day + start, end: day + end } : []
  })
}

function minutes(text: string): number {
  const [hour = 0, minute = 0] = text.split(':').map(Number)
  return hour * 60 + minute
}
