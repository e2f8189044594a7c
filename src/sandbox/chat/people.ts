// The built-in professionals: one of every speciality of section 2.3 and a few for groups. All names are made up.
import type { ScheduleWire } from '../../service/chat-schema.ts'
import type { ProfessionalInput } from './professionals.ts'

type Day = ScheduleWire['day']
type Periods = readonly [startFirst: string, endFirst: string, startSecond: string, endSecond: string]

const WORKDAYS: readonly Day[] = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday']
const WEEKEND: readonly Day[] = ['saturday', 'sunday']
const WEEK = [...WORKDAYS, ...WEEKEND]

const MORNINGS: Periods = ['7:00', '9:30', '10:00', '13:00']
const OFFICE: Periods = ['8:00', '13:00', '15:00', '18:00']
const LATE: Periods = ['12:00', '15:00', '16:00', '21:30']
/** The periods touch, so that there is no disconnection between them. */
const STRAIGHT: Periods = ['7:00', '12:00', '12:00', '15:00']
/** The evening goes on into the next day's first period. */
const NIGHT: Periods = ['0:00', '6:00', '20:00', '0:00']

export const PEOPLE: readonly ProfessionalInput[] = [
  {
    ...person('pro-generalist-1', 'Lucía Ferrandiz Oya', '<b>Lawyer</b> for everyday questions'),
    speciality_id: 1,
    schedules: [...on(WORKDAYS, OFFICE), ...on(WEEKEND, MORNINGS)],
  },
  {
    ...person('pro-tax-1', 'Andrés Villalgordo Peña', 'Tax adviser, <i>income</i> and <i>property</i>'),
    speciality_id: 2,
    schedules: on(WORKDAYS, MORNINGS),
  },
  {
    ...person(
      'pro-debts-1',
      'Marta Solanes Quiroga',
      'Debts, <span style="color:#0a7d5a">second chances</span>',
    ),
    speciality_id: 3,
    schedules: on(WORKDAYS, LATE),
  },
  {
    ...person('pro-driving-1', 'Ignacio Barbastro Leiva', '<u>Fines</u>, licences and accidents'),
    speciality_id: 4,
    schedules: [...on(WORKDAYS, STRAIGHT), ...on(['saturday'], MORNINGS)],
  },
  {
    ...person('pro-work-1', 'Nuria Castellfort Amaya', '<b><i>Employment</i></b> lawyer'),
    speciality_id: 5,
    schedules: on(WORKDAYS, OFFICE),
  },
  {
    ...person('pro-family-1', 'Elena Riudoms Tárrega', '<b>Family</b> and <u>inheritance</u>'),
    speciality_id: 6,
    schedules: on(['monday', 'wednesday', 'friday'], LATE),
  },
  {
    ...person(
      'pro-housing-1',
      'Tomás Albarracín Sesé',
      'Rent, <span style="color:#b3261e">neighbours</span>',
    ),
    speciality_id: 7,
    schedules: on(['tuesday', 'thursday', 'saturday'], OFFICE),
  },
  {
    ...person('pro-consumer-1', 'Carmen Ojeda Villarrubia', '<i>Consumer</i> rights'),
    speciality_id: 8,
    schedules: [...on(WORKDAYS, MORNINGS), ...on(WEEKEND, LATE)],
  },
  {
    ...person('pro-criminal-1', 'Rafael Monterde Iriarte', '<b>Criminal defence</b>, <u>day and night</u>'),
    speciality_id: 11,
    schedules: on(WEEK, NIGHT),
  },
  {
    ...person('pro-generalist-gold', 'Beatriz Navascués Roldán', 'Your <b>personal</b> lawyer'),
    speciality_id: 1,
    schedules: on(WEEK, STRAIGHT),
    groups: ['gold', 'platinum'],
  },
  {
    ...person('pro-tax-gold', 'Joaquín Estremera Vidaurre', '<i>Wealth</i> and <i>business</i> taxes'),
    speciality_id: 2,
    schedules: on(WORKDAYS, LATE),
    groups: ['gold'],
  },
  {
    ...person('pro-work-basic', 'Sergi Pallarols Bonet', 'Employment <u>questions</u>'),
    speciality_id: 5,
    schedules: on(['tuesday', 'thursday'], MORNINGS),
    groups: ['basic'],
  },
]

/** The plain title is the HTML without its tags. */
function person(id: string, name: string, html: string) {
  const title = html.replaceAll(/<[^>]*>/g, '')
  return {
    professional_id: id,
    photo: `https://sandbox.invalid/photos/${id}.jpg`,
    name,
    title,
    title_html: html,
    description: `${title}. A made-up professional of the sandbox.`,
    collegiate_number: `SBX-${id}`,
  }
}

function on(days: readonly Day[], [startFirst, endFirst, startSecond, endSecond]: Periods): ScheduleWire[] {
  return days.map((day) => ({
    day,
    start_first_period: startFirst,
    end_first_period: endFirst,
    start_second_period: startSecond,
    end_second_period: endSecond,
  }))
}
