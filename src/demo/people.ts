// Makes up the demo's customers, with frequent Spanish names.
import { words } from '../model/values.ts'

/** A row of `clientes` with its subscription, named as the columns are. */
export type DemoPerson = ReturnType<typeof makePerson>

const NAMES = words('María José Lucía Antonio Ana Íñigo Isabel Javier Cristina Ángel Begoña Jordi')
const SURNAMES = words('García Rodríguez González Fernández López Martínez Sánchez Pérez Jiménez Muñoz Peña')
const PROVINCES = words('Madrid Valencia Sevilla Bizkaia Barcelona Málaga Ourense')
const GROUPS = [null, 'particulares', 'autónomos', 'familias']
const NOTES = ['Prefiere que la llamen por la tarde', null, null, null, 'Cliente desde 2014']
const PLANS = ['premium', 'premium', 'prueba', 'premium', 'premium', 'gratis', 'premium'] as const

const WRONG_DNI_EVERY = 97

export function makePeople(count: number): readonly DemoPerson[] {
  return Array.from({ length: count }, (_, index) => makePerson(index + 1))
}

function makePerson(number: number) {
  // Steps that differ, so that the columns do not repeat together.
  const pick = <T>(list: readonly T[], step: number) => list[(number * step) % list.length] as T
  const nombre = pick(NAMES, 5)
  const apellido1 = pick(SURNAMES, 3)
  const abroad = number % 17 === 0
  // From the very end of the range, which is hardly in use.
  const dni = withLetter(String(99_000_000 + number * 3917))
  return {
    id: `C-${String(number).padStart(4, '0')}`,
    nombre,
    apellido1,
    apellido2: abroad ? null : pick(SURNAMES, 7),
    // Mail to example.com reaches no person.
    correo: `${plain(nombre)}.${plain(apellido1)}${number}@example.com`,
    dni: number % WRONG_DNI_EVERY === 0 ? `${dni.slice(0, -1)}U` : dni,
    sexo: nombre.endsWith('a') ? 'M' : 'H',
    nacimiento: new Date(Date.UTC(1942, 0, 1 + number * 95)).toISOString().slice(0, 10),
    movil: `600 ${100_000 + number * 37}`,
    pais: abroad ? 'PT' : 'ES',
    idioma: abroad ? 'pt' : 'es',
    provincia: pick(PROVINCES, 2),
    grupo: pick(GROUPS, 1),
    notas: pick(NOTES, 1),
    plan: pick(PLANS, 3),
    contrato: `${2019 + (number % 7)}/${10_000 + number * 7}`,
  }
}

/** The letter of a DNI follows from its number; U is none of them. */
export function withLetter(digits: string): string {
  return digits + 'TRWAGMYFPDXBNJZSQVHLCKE'.charAt(Number(digits) % 23)
}

function plain(name: string): string {
  return name
    .normalize('NFD')
    .replace(/[^a-z]/gi, '')
    .toLowerCase()
}
