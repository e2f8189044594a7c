// The professionals (sections 2.2 and 4.2), and which of them a user sees.
import * as z from 'zod'
import { PROFESSIONAL_STATUSES, WEEKDAYS } from '../../service/chat.ts'
import {
  type ProfessionalWire,
  professional,
  type RoomWire,
  type ScheduleWire,
} from '../../service/chat-schema.ts'
import { secondText } from '../clock.ts'

/** Section 2.2 without the fields that follow from clock and rooms. */
const professionalInput = professional
  .omit({ next_connection_at: true, next_disconnection_at: true, room: true })
  .extend({
    status: z.enum(PROFESSIONAL_STATUSES).default('online'),
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

const HOUR_MS = 3_600_000

/** The next connection or disconnection is always an hour away: nothing here goes by the schedules. */
export function shownProfessional(
  { groups: _unseen, ...given }: StoredProfessional,
  { room, now }: { readonly room: RoomWire | null; readonly now: number },
): ProfessionalWire {
  const next = secondText(now + HOUR_MS).slice(0, 16)
  return {
    ...given,
    next_connection_at: given.status === 'offline' ? next : null,
    next_disconnection_at: given.status === 'online' ? next : null,
    room,
  }
}

type Periods = readonly [startFirst: string, endFirst: string, startSecond: string, endSecond: string]

const DAILY = WEEKDAYS
const WORKDAYS = WEEKDAYS.slice(0, 5)

const OFFICE: Periods = ['8:00', '13:00', '15:00', '18:00']
const LATE: Periods = ['12:00', '15:00', '16:00', '21:30']
const NIGHT: Periods = ['0:00', '6:00', '20:00', '0:00']

type Speciality = ProfessionalInput['speciality_id']
type Days = readonly ScheduleWire['day'][]
type Row = readonly [Speciality, id: string, name: string, html: string, Days, Periods, string[]?]

const ROWS: readonly Row[] = [
  [1, 'generalist-1', 'Lucía Ferrandiz Oya', '<b>Lawyer</b> for everyday questions', DAILY, OFFICE],
  [2, 'tax-1', 'Andrés Villalgordo Peña', 'Taxes on <i>income</i> and <i>property</i>', WORKDAYS, OFFICE],
  [3, 'debts-1', 'Marta Solanes Quiroga', '<span style="color:#0a7d5a">Debts</span>', WORKDAYS, LATE],
  [4, 'driving-1', 'Ignacio Barbastro Leiva', '<u>Fines</u>, licences, accidents', WORKDAYS, OFFICE],
  [5, 'work-1', 'Nuria Castellfort Amaya', '<b><i>Employment</i></b> lawyer', WORKDAYS, OFFICE],
  [6, 'family-1', 'Elena Riudoms Tárrega', '<b>Family</b> and <u>inheritance</u>', WORKDAYS, LATE],
  [7, 'housing-1', 'Tomás Albarracín Sesé', 'Rent and neighbours', WORKDAYS, OFFICE],
  [8, 'consumer-1', 'Carmen Ojeda Villarrubia', '<i>Consumer</i> rights', DAILY, LATE],
  [11, 'criminal-1', 'Rafael Monterde Iriarte', '<b>Defence</b>, <u>day and night</u>', DAILY, NIGHT],
  [1, 'generalist-gold', 'Beatriz Navascués Roldán', 'Lawyer', DAILY, LATE, ['gold', 'platinum']],
  [2, 'tax-gold', 'Joaquín Estremera Vidaurre', '<i>Wealth</i> taxes', WORKDAYS, LATE, ['gold']],
  [5, 'work-basic', 'Sergi Pallarols Bonet', 'Employment <u>questions</u>', WORKDAYS, LATE, ['basic']],
]

/** The built-in ones: one of every speciality of section 2.3 and a few for groups. All names are made up. */
export const PEOPLE: readonly ProfessionalInput[] = ROWS.map(
  ([speciality_id, id, name, title_html, days, periods, groups = null]) => {
    const [start_first_period, end_first_period, start_second_period, end_second_period] = periods
    const schedule = { start_first_period, end_first_period, start_second_period, end_second_period }
    /** The plain title is the HTML without its tags. */
    const title = title_html.replaceAll(/<[^>]*>/g, '')
    return {
      professional_id: `pro-${id}`,
      status: days === DAILY ? 'online' : 'offline',
      photo: `https://sandbox.invalid/photos/pro-${id}.jpg`,
      ...{ name, title, title_html, speciality_id },
      description: `${title}. A made-up professional of the sandbox.`,
      collegiate_number: `SBX-pro-${id}`,
      schedules: days.map((day) => ({ day, ...schedule })),
      groups,
    }
  },
)
