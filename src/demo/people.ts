// Makes up the demo's customers, with frequent Spanish names. Pure: the same randomness gives the same people.

type DemoPlan = 'gratis' | 'premium' | 'prueba'
type Random = () => number

/** A row of `clientes` with its subscription, named as the columns are. */
export type DemoPerson = ReturnType<typeof makePerson>

const WOMEN = words('María Carmen Lucía Ana Isabel Laura Cristina Marta Pilar Elena Nuria Rocío Inés Begoña')
const MEN = words('Antonio Manuel José Francisco David Javier Daniel Carlos Miguel Ángel Íñigo Jordi Andrés')
const SURNAMES = words(
  'García Rodríguez González Fernández López Martínez Sánchez Pérez Gómez Jiménez Díaz Muñoz Núñez Ibáñez Peña',
)
const PROVINCES = words('Madrid Barcelona Valencia Sevilla Bizkaia Málaga Ourense Girona')
const LANGUAGES: Readonly<Record<string, string>> = { Ourense: 'gl', Girona: 'ca' }
const GROUPS = words('particulares autónomos familias')
const NOTES = ['Prefiere que la llamen por la tarde', 'Cliente desde 2014', 'Recomendado por otro cliente']

/** One customer in so many has a wrong DNI. */
const WRONG_DNI_EVERY = 97

export function makePeople(count: number, random: Random): readonly DemoPerson[] {
  return Array.from({ length: count }, (_, index) => makePerson(index + 1, random))
}

function makePerson(number: number, random: Random) {
  const woman = random() < 0.5
  const nombre = oneOf(woman ? WOMEN : MEN, random)
  const apellido1 = oneOf(SURNAMES, random)
  const provincia = oneOf(PROVINCES, random)
  const abroad = random() < 0.06
  const dni = random() < 0.12 ? makeNie(random) : makeDni(random)
  const phone = `600${String(100_000 + number * 37)}`
  return {
    id: `C-${String(number).padStart(4, '0')}`,
    nombre,
    apellido1,
    apellido2: abroad ? null : oneOf(SURNAMES, random),
    // Mail to example.com reaches no person.
    correo: `${plain(nombre)}.${plain(apellido1)}${number}@example.com`,
    dni: number % WRONG_DNI_EVERY === 0 ? withWrongLetter(dni) : dni,
    sexo: random() < 0.04 ? null : woman ? 'M' : 'H',
    nacimiento: new Date(Date.UTC(1942, 0, 1 + below(64 * 365, random))).toISOString().slice(0, 10),
    movil: random() < 0.5 ? phone : phone.replace(/(\d{3})(?=\d)/g, '$1 '),
    pais: abroad ? 'PT' : 'ES',
    idioma: abroad ? 'pt' : (LANGUAGES[provincia] ?? 'es'),
    provincia,
    grupo: random() < 0.7 ? oneOf(GROUPS, random) : null,
    notas: random() < 0.15 ? oneOf(NOTES, random) : null,
    plan: planOf(random()),
    contrato: `${2019 + below(7, random)}/${10_000 + number * 7}`,
  } as const
}

function planOf(share: number): DemoPlan {
  if (share < 0.68) return 'premium'
  return share < 0.82 ? 'prueba' : 'gratis'
}

/** The letter of a DNI or NIE follows from its number. */
const LETTERS = 'TRWAGMYFPDXBNJZSQVHLCKE'
/** The first letter of a NIE counts as the digit of its place. */
const FIRST = 'XYZ'

/** From the very end of the range, which is hardly in use. */
export function makeDni(random: Random): string {
  return withLetter(String(99_000_000 + below(999_999, random)))
}

export function makeNie(random: Random): string {
  return withLetter(`${FIRST.charAt(below(FIRST.length, random))}${9_900_000 + below(99_999, random)}`)
}

export function withRightLetter(dni: string): string {
  return withLetter(dni.slice(0, -1))
}

function withWrongLetter(dni: string): string {
  const next = LETTERS.indexOf(dni.slice(-1)) + 1
  return dni.slice(0, -1) + LETTERS.charAt(next % LETTERS.length)
}

function withLetter(digits: string): string {
  const number = Number(digits.replace(/^[XYZ]/, (letter) => String(FIRST.indexOf(letter))))
  return digits + LETTERS.charAt(number % LETTERS.length)
}

function words(list: string): readonly string[] {
  return list.split(' ')
}

function plain(name: string): string {
  const letters = name.normalize('NFD').replace(/[^a-z]/gi, '')
  return letters.toLowerCase()
}

function below(limit: number, random: Random): number {
  return Math.floor(random() * limit)
}

function oneOf(list: readonly string[], random: Random): string {
  return list[below(list.length, random)] as string
}
