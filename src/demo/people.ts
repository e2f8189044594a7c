// Makes up the demo's customers. Pure: the same randomness gives the same people.
import { makeDni, makeNie, withWrongLetter } from './dni.ts'
import { GROUPS, MAIL_DOMAINS, MEN, NOTES, PROVINCES, SURNAMES, WOMEN } from './names.ts'

export type Plan = 'gratis' | 'premium' | 'prueba'

/** A row of `clientes` with the subscription that belongs to it, named as the columns are. */
export type Person = {
  readonly id: string
  readonly nombre: string
  readonly apellido1: string
  readonly apellido2: string | null
  readonly correo: string
  readonly dni: string
  readonly sexo: 'H' | 'M' | null
  readonly nacimiento: string
  readonly movil: string
  readonly pais: 'ES' | 'PT'
  readonly idioma: string
  readonly provincia: string
  readonly grupo: string | null
  readonly notas: string | null
  readonly plan: Plan
  readonly contrato: string
}

/** Every so many customers one has written the DNI down wrongly. */
const WRONG_DNI_EVERY = 97

export function makePeople(count: number, random: () => number): readonly Person[] {
  return Array.from({ length: count }, (_, index) => makePerson(index + 1, random))
}

function makePerson(number: number, random: () => number): Person {
  const woman = random() < 0.5
  const nombre = oneOf(woman ? WOMEN : MEN, random)
  const apellido1 = oneOf(SURNAMES, random)
  const { provincia, idioma } = oneOf(PROVINCES, random)
  const abroad = random() < 0.06
  const right = random() < 0.12 ? makeNie(random) : makeDni(random)
  return {
    id: `C-${String(number).padStart(4, '0')}`,
    nombre,
    apellido1,
    apellido2: abroad ? null : oneOf(SURNAMES, random),
    correo: `${plain(nombre)}.${plain(apellido1)}${number}@${oneOf(MAIL_DOMAINS, random)}`,
    dni: number % WRONG_DNI_EVERY === 0 ? withWrongLetter(right) : right,
    sexo: random() < 0.04 ? null : woman ? 'M' : 'H',
    nacimiento: birthday(random),
    movil: phone(number, random),
    pais: abroad ? 'PT' : 'ES',
    idioma: abroad ? 'pt' : idioma,
    provincia,
    grupo: random() < 0.7 ? oneOf(GROUPS, random) : null,
    notas: random() < 0.15 ? oneOf(NOTES, random) : null,
    plan: planOf(random()),
    contrato: `${2019 + below(7, random)}/${String(10_000 + number * 7)}`,
  }
}

function planOf(share: number): Plan {
  if (share < 0.68) return 'premium'
  return share < 0.82 ? 'prueba' : 'gratis'
}

/** The same number as it is written by different people. */
function phone(number: number, random: () => number): string {
  const digits = `600${String(100_000 + number * 37).slice(-6)}`
  const written = [digits, digits.replace(/(\d{3})(\d{3})(\d{3})/, '$1 $2 $3')]
  return oneOf(written, random)
}

/** Grown-ups of all ages. */
function birthday(random: () => number): string {
  const day = Date.UTC(1942, 0, 1) + below(64 * 365, random) * 86_400_000
  return new Date(day).toISOString().slice(0, 10)
}

function plain(name: string): string {
  return name
    .normalize('NFD')
    .replace(/[^a-z]/gi, '')
    .toLowerCase()
}

function below(limit: number, random: () => number): number {
  return Math.floor(random() * limit)
}

function oneOf<T>(list: readonly T[], random: () => number): T {
  const found = list[below(list.length, random)]
  if (found === undefined) throw new RangeError('cannot choose from an empty list')
  return found
}
