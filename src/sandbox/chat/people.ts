// The built-in professionals: one of every speciality of section 2.3 and a few for groups. All names are made up.
import type { ScheduleWire } from '../../service/chat-schema.ts'
import type { ProfessionalInput } from './professionals.ts'

type Day = ScheduleWire['day']
type Periods = readonly [startFirst: string, endFirst: string, startSecond: string, endSecond: string]

const WORKDAYS: readonly Day[] = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday']
const WEEK: readonly Day[] = [...WORKDAYS, 'saturday', 'sunday']
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
  [1, 'generalist-1', 'Lucía Ferrandiz Oya', '<b>Lawyer</b> for everyday questions', WEEK, OFFICE],
  [2, 'tax-1', 'Andrés Villalgordo Peña', 'Taxes on <i>income</i> and <i>property</i>', WORKDAYS, MORNINGS],
  [3, 'debts-1', 'Marta Solanes Quiroga', '<span style="color:#0a7d5a">Debts</span>', WORKDAYS, LATE],
  [4, 'driving-1', 'Ignacio Barbastro Leiva', '<u>Fines</u>, licences, accidents', WORKDAYS, STRAIGHT],
  [5, 'work-1', 'Nuria Castellfort Amaya', '<b><i>Employment</i></b> lawyer', WORKDAYS, OFFICE],
  [6, 'family-1', 'Elena Riudoms Tárrega', '<b>Family</b> and <u>inheritance</u>', SOME_DAYS, LATE],
  [7, 'housing-1', 'Tomás Albarracín Sesé', 'Rent and neighbours', SOME_DAYS, OFFICE],
  [8, 'consumer-1', 'Carmen Ojeda Villarrubia', '<i>Consumer</i> rights', WEEK, LATE],
  [11, 'criminal-1', 'Rafael Monterde Iriarte', '<b>Defence</b>, <u>day and night</u>', WEEK, NIGHT],
  [1, 'generalist-gold', 'Beatriz Navascués Roldán', 'Lawyer', WEEK, STRAIGHT, ['gold', 'platinum']],
  [2, 'tax-gold', 'Joaquín Estremera Vidaurre', '<i>Wealth</i> taxes', WORKDAYS, LATE, ['gold']],
  [5, 'work-basic', 'Sergi Pallarols Bonet', 'Employment <u>questions</u>', SOME_DAYS, MORNINGS, ['basic']],
]

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
