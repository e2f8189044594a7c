// The professionals who are there from the start: one of every speciality of section 2.3 and a few more. Nobody of
// these names is meant.
import type { ScheduleWire } from '../../service/chat-schema.ts'
import type { ProfessionalInput } from './professionals.ts'

type Day = ScheduleWire['day']
type Periods = readonly [startFirst: string, endFirst: string, startSecond: string, endSecond: string]

const WORKDAYS: readonly Day[] = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday']
const WEEKEND: readonly Day[] = ['saturday', 'sunday']

const MORNINGS: Periods = ['7:00', '9:30', '10:00', '13:00']
const OFFICE: Periods = ['8:00', '13:00', '15:00', '18:00']
const LATE: Periods = ['12:00', '15:00', '16:00', '21:30']
/** They touch, so that nobody leaves in between. */
const STRAIGHT: Periods = ['7:00', '12:00', '12:00', '15:00']
/** The evening goes on into the next day's first period. */
const NIGHT: Periods = ['0:00', '6:00', '20:00', '0:00']

function on(days: readonly Day[], [startFirst, endFirst, startSecond, endSecond]: Periods): ScheduleWire[] {
  return days.map((day) => ({
    day,
    start_first_period: startFirst,
    end_first_period: endFirst,
    start_second_period: startSecond,
    end_second_period: endSecond,
  }))
}

type Person = Omit<ProfessionalInput, 'professional_id' | 'photo'> & { readonly id: string }

function person({ id, ...rest }: Person): ProfessionalInput {
  return { professional_id: id, photo: `https://sandbox.invalid/photos/${id}.jpg`, ...rest }
}

export const PEOPLE: readonly ProfessionalInput[] = [
  person({
    id: 'pro-generalist-1',
    name: 'Lucía Ferrandiz Oya',
    title: 'Lawyer for everyday questions',
    title_html: '<b>Lawyer</b> for everyday questions',
    description: 'First contact for any legal question: contracts, neighbours, inheritances, public offices.',
    speciality_id: 1,
    collegiate_number: 'SBX-10001',
    schedules: [...on(WORKDAYS, OFFICE), ...on(WEEKEND, MORNINGS)],
  }),
  person({
    id: 'pro-tax-1',
    name: 'Andrés Villalgordo Peña',
    title: 'Tax adviser, income and property',
    title_html: 'Tax adviser, <i>income</i> and <i>property</i>',
    description: 'Income tax, self-employed people, transfers of property and letters from the tax office.',
    speciality_id: 2,
    collegiate_number: 'SBX-10002',
    schedules: on(WORKDAYS, MORNINGS),
  }),
  person({
    id: 'pro-debts-1',
    name: 'Marta Solanes Quiroga',
    title: 'Debts and second chances',
    title_html: 'Debts and <span style="color:#0a7d5a">second chances</span>',
    description: 'Overdue bills, credit files, payment orders and the insolvency of private persons.',
    speciality_id: 3,
    collegiate_number: 'SBX-10003',
    schedules: on(WORKDAYS, LATE),
  }),
  person({
    id: 'pro-driving-1',
    name: 'Ignacio Barbastro Leiva',
    title: 'Fines, licences and accidents',
    title_html: '<u>Fines</u>, licences and accidents',
    description: 'Traffic fines, points on the licence, accidents and talks with insurers.',
    speciality_id: 4,
    collegiate_number: 'SBX-10004',
    schedules: [...on(WORKDAYS, STRAIGHT), ...on(['saturday'], MORNINGS)],
  }),
  person({
    id: 'pro-work-1',
    name: 'Nuria Castellfort Amaya',
    title: 'Employment lawyer',
    title_html: '<b><i>Employment</i></b> lawyer',
    description: 'Dismissals, wages, sick leave, working hours and collective agreements.',
    speciality_id: 5,
    collegiate_number: 'SBX-10005',
    schedules: on(WORKDAYS, OFFICE),
  }),
  person({
    id: 'pro-family-1',
    name: 'Elena Riudoms Tárrega',
    title: 'Family and inheritance',
    title_html: '<b>Family</b> and <u>inheritance</u>',
    description: 'Separation, custody, maintenance, wills and the sharing out of estates.',
    speciality_id: 6,
    collegiate_number: 'SBX-10006',
    schedules: on(['monday', 'wednesday', 'friday'], LATE),
  }),
  person({
    id: 'pro-housing-1',
    name: 'Tomás Albarracín Sesé',
    title: 'Rent, purchase and neighbours',
    title_html: 'Rent, purchase and <span style="color:#b3261e">neighbours</span>',
    description: 'Leases, deposits, purchases, mortgages and owners’ associations.',
    speciality_id: 7,
    collegiate_number: 'SBX-10007',
    schedules: on(['tuesday', 'thursday', 'saturday'], OFFICE),
  }),
  person({
    id: 'pro-consumer-1',
    name: 'Carmen Ojeda Villarrubia',
    title: 'Consumer rights',
    title_html: '<i>Consumer</i> rights',
    description: 'Purchases, guarantees, travel, telephone and energy contracts.',
    speciality_id: 8,
    collegiate_number: 'SBX-10008',
    schedules: [...on(WORKDAYS, MORNINGS), ...on(WEEKEND, LATE)],
  }),
  person({
    id: 'pro-criminal-1',
    name: 'Rafael Monterde Iriarte',
    title: 'Criminal defence, day and night',
    title_html: '<b>Criminal defence</b>, <u>day and night</u>',
    description: 'Arrests, complaints, statements before the police and protection orders.',
    speciality_id: 11,
    collegiate_number: 'SBX-10011',
    schedules: on([...WORKDAYS, ...WEEKEND], NIGHT),
  }),
  person({
    id: 'pro-generalist-gold',
    name: 'Beatriz Navascués Roldán',
    title: 'Your personal lawyer',
    title_html: '<b>Your <span style="color:#b8860b">personal</span> lawyer</b>',
    description: 'Only for the groups gold and platinum: one lawyer for everything.',
    speciality_id: 1,
    collegiate_number: 'SBX-10021',
    schedules: [...on(WORKDAYS, STRAIGHT), ...on(WEEKEND, STRAIGHT)],
    groups: ['gold', 'platinum'],
  }),
  person({
    id: 'pro-tax-gold',
    name: 'Joaquín Estremera Vidaurre',
    title: 'Wealth and business taxes',
    title_html: '<i>Wealth</i> and <i>business</i> taxes',
    description: 'Only for the group gold: companies, wealth tax and residence abroad.',
    speciality_id: 2,
    collegiate_number: 'SBX-10022',
    schedules: on(WORKDAYS, LATE),
    groups: ['gold'],
  }),
  person({
    id: 'pro-work-basic',
    name: 'Sergi Pallarols Bonet',
    title: 'Employment questions',
    title_html: 'Employment <u>questions</u>',
    description: 'Only for the group basic: short questions about contracts and payslips.',
    speciality_id: 5,
    collegiate_number: 'SBX-10025',
    schedules: on(['tuesday', 'thursday'], MORNINGS),
    groups: ['basic'],
  }),
]
