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
    /** Seen only by users whose `ml_group_name` is one of them (2.6); null: by all users. */
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
    /** The professionals that a user of this `ml_group_name` sees, in the order of the list. */
    seenBy: (group: string | null) =>
      live.filter(({ groups }) => groups === null || (group !== null && groups.includes(group))),
    /** Replaces them all; throws a ZodError when one is malformed, and then changes nothing. */
    set(list: readonly ProfessionalInput[]): void {
      live = professionalList.parse(list)
    },
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

/**
 * Whether the schedules have the professional connected, and when that changes (section 2.4, all times UTC). Periods
 * that touch are one, within a day or across midnight: an end of `0:00` is the end of the day, 23:59 is not.
 */
export function presenceAt(schedules: readonly ScheduleWire[], epochMs: number) {
  const minute = Math.floor(epochMs / MINUTE_MS)
  const now = (minute + EPOCH) % WEEK
  const spans = schedules.flatMap(spansOf)
  const isOnline = (at: number) => spans.some(({ start, end }) => start <= at && at < end)
  const edges = spans.flatMap(({ start, end }) => [start, end % WEEK])
  const changes = edges.filter((edge) => isOnline(edge) !== isOnline(now))
  const next = Math.min(...changes.map((edge) => (edge - now + WEEK) % WEEK))
  return {
    status: isOnline(now) ? ('online' as const) : ('offline' as const),
    /** In epoch milliseconds, on the minute; null: never. */
    changesAt: changes.length === 0 ? null : (minute + next) * MINUTE_MS,
  }
}

/** In minutes since Monday, 0:00, without the end. A period that ends before it starts, or as it starts, is none. */
function spansOf(schedule: ScheduleWire) {
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

type Day = ScheduleWire['day']
type Periods = readonly [startFirst: string, endFirst: string, startSecond: string, endSecond: string]

const WORKDAYS: readonly Day[] = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday']
const ALL_DAYS: readonly Day[] = [...WORKDAYS, 'saturday', 'sunday']
const SOME_DAYS: readonly Day[] = ['tuesday', 'thursday', 'saturday']

const MORNINGS: Periods = ['7:00', '9:30', '10:00', '13:00']
const OFFICE: Periods = ['8:00', '13:00', '15:00', '18:00']
const LATE: Periods = ['12:00', '15:00', '16:00', '21:30']
/** The periods touch, so that there is no disconnection between them. */
const STRAIGHT: Periods = ['7:00', '12:00', '12:00', '15:00']
/** The evening goes on into the next day's first period. */
const NIGHT: Periods = ['0:00', '6:00', '20:00', '0:00']

type Speciality = ProfessionalInput['speciality_id']
type Row = readonly [Speciality, id: string, name: string, html: string, readonly Day[], Periods, string[]?]

const ROWS: readonly Row[] = [
  [1, 'generalist-1', 'Lucía Ferrandiz Oya', '<b>Lawyer</b> for everyday questions', ALL_DAYS, OFFICE],
  [2, 'tax-1', 'Andrés Villalgordo Peña', 'Taxes on <i>income</i> and <i>property</i>', WORKDAYS, MORNINGS],
  [3, 'debts-1', 'Marta Solanes Quiroga', '<span style="color:#0a7d5a">Debts</span>', WORKDAYS, LATE],
  [4, 'driving-1', 'Ignacio Barbastro Leiva', '<u>Fines</u>, licences, accidents', WORKDAYS, STRAIGHT],
  [5, 'work-1', 'Nuria Castellfort Amaya', '<b><i>Employment</i></b> lawyer', WORKDAYS, OFFICE],
  [6, 'family-1', 'Elena Riudoms Tárrega', '<b>Family</b> and <u>inheritance</u>', SOME_DAYS, LATE],
  [7, 'housing-1', 'Tomás Albarracín Sesé', 'Rent and neighbours', SOME_DAYS, OFFICE],
  [8, 'consumer-1', 'Carmen Ojeda Villarrubia', '<i>Consumer</i> rights', ALL_DAYS, LATE],
  [11, 'criminal-1', 'Rafael Monterde Iriarte', '<b>Defence</b>, <u>day and night</u>', ALL_DAYS, NIGHT],
  [1, 'generalist-gold', 'Beatriz Navascués Roldán', 'Lawyer', ALL_DAYS, STRAIGHT, ['gold', 'platinum']],
  [2, 'tax-gold', 'Joaquín Estremera Vidaurre', '<i>Wealth</i> taxes', WORKDAYS, LATE, ['gold']],
  [5, 'work-basic', 'Sergi Pallarols Bonet', 'Employment <u>questions</u>', SOME_DAYS, MORNINGS, ['basic']],
]

/** The built-in ones: one of every speciality of section 2.3 and a few for groups. All names are made up. */
export const PEOPLE: readonly ProfessionalInput[] = ROWS.map(
  ([speciality, id, name, html, days, periods, groups = null]) => {
    /** The plain title is the HTML without its tags. */
    const title = html.replaceAll(/<[^>]*>/g, '')
    return {
      professional_id: `pro-${id}`,
      photo: `https://sandbox.invalid/photos/pro-${id}.jpg`,
      name,
      title,
      title_html: html,
      description: `${title}. A made-up professional of the sandbox.`,
      speciality_id: speciality,
      collegiate_number: `SBX-pro-${id}`,
      schedules: days.map((day) => ({
        day,
        start_first_period: periods[0],
        end_first_period: periods[1],
        start_second_period: periods[2],
        end_second_period: periods[3],
      })),
      groups,
    }
  },
)
