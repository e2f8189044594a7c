// Customers whose every value can be recognised wherever it turns up, and the search for them.
import { withLetter } from '../../src/demo/people.ts'

export type Random = () => number

/** What the run has ever written of people, committed or not, in the form in which it is looked for. */
export type Known = {
  readonly words: Set<string>
  readonly dnis: Set<string>
  readonly phones: Set<string>
  readonly dates: Set<string>
  readonly keys: Set<string>
}

export type Values = {
  readonly known: Known
  key(random: Random, kind: 'usual' | 'forbidden'): string
  /** A new value for a column of `clientes`. */
  value(column: Column, random: Random): string | null
}

const PLANS = ['premium', 'premium', 'free', 'trial'] as const
const PREFIXES = ['34', '351'] as const

/** Every word has this in it and nine letters after it; no digest, number or name of a column has. */
const WORD = 'qzx'
const KEY = 'kqx'
const LETTERS = 9

const MAKE = {
  plan: (random) => pick(PLANS, random),
  correo: maybe((random, { word }) => `${pick(['', 'Ana.'], random)}${word}@Correo.example`),
  dni: maybe((random) =>
    random() < 0.8 ? withLetter(`99${digits(6, random)}`) : `X${withLetter(`99${digits(5, random)}`)}`,
  ),
  nombre: maybe((_random, { word }) => `${word} Ñoña "x" \\`),
  apellidos: maybe((_random, { word }) => `de la ${word}`),
  sexo: maybe((random) => pick(['h', 'm'], random)),
  // In decades in which nothing else here was born.
  nacido: maybe((random) => `19${30 + digit(random)}-0${1 + (digit(random) % 9)}-${10 + digit(random)}`),
  movil: maybe((random) => `${pick(['6', '7'], random)}${digits(8, random)}`),
  prefijo: maybe((random) => pick(PREFIXES, random)),
  cobertura: maybe((_random, { word }) => word),
  contrato: maybe((_random, { word }) => `C-${word}`),
  idioma: maybe((random) => pick(['es', 'ca'], random)),
  notas: maybe((_random, { word }) => `${word}\ny más`),
  pais: maybe((random) => pick(['ES', 'PT'], random)),
  grupo: maybe((_random, { word }) => word),
  grupo_medico: maybe((_random, { word }) => word),
} as const satisfies Record<string, Make>

export type Column = keyof typeof MAKE
export const COLUMNS = Object.keys(MAKE) as readonly Column[]

type Make = (random: Random, parts: { readonly word: string }) => string | null

export function makeValues(): Values {
  const known: Known = {
    words: new Set(),
    dnis: new Set(),
    phones: new Set(),
    dates: new Set(),
    keys: new Set(),
  }
  return {
    known,
    key(random, kind) {
      const key = KEY + letters(random)
      known.keys.add(key)
      return kind === 'forbidden' ? `${key}-forbidden` : `${key}/ñ`
    },
    value(column, random) {
      const word = WORD + letters(random)
      const value = MAKE[column](random, { word: word[0]?.toUpperCase() + word.slice(1) })
      if (value?.toLowerCase().includes(word)) known.words.add(word)
      else if (column === 'dni' && value) known.dnis.add(value)
      else if (column === 'movil' && value) known.phones.add(value)
      else if (column === 'nacido' && value) known.dates.add(value)
      return value
    },
  }
}

/** Values of people in a text; each is told by its kind and its place, since a message must not repeat the leak. */
export function findPersonal(text: string, { words, dnis, phones, dates }: Known): readonly string[] {
  const found = [
    ...matches(text, /qzx[a-z]{9}/gi, (match) => words.has(match.toLowerCase()), 'a word'),
    ...matches(text, /[xyz]?\d{7,8}[a-z]/gi, (match) => dnis.has(match.toUpperCase()), 'a DNI'),
    ...matches(text, /\d{9,15}/g, (match) => phones.has(match.replace(/^(00)?(34|351)?/, '')), 'a phone'),
    ...matches(text, /\d{9,15}/g, (match) => phones.has(match), 'a phone'),
    ...matches(text, /19[34]\d-\d\d-\d\d/g, (match) => dates.has(match), 'a date of birth'),
  ]
  return found
}

export function findKeys(text: string, { keys }: Known): readonly string[] {
  return matches(text, /kqx[a-z]{9}/gi, (match) => keys.has(match.toLowerCase()), 'a customer key')
}

const NEAR = 60

function matches(text: string, like: RegExp, isKnown: (match: string) => boolean, what: string): string[] {
  return [...text.matchAll(like)]
    .filter(([match]) => isKnown(match))
    .map(({ index }) => `${what}: …${text.slice(Math.max(0, index - NEAR), index + NEAR)}…`)
}

function maybe(make: Make): Make {
  return (random, parts) => (random() < 0.15 ? null : make(random, parts))
}

export function pick<T>(from: readonly T[], random: Random): T {
  return from[Math.floor(random() * from.length)] as T
}

function letters(random: Random): string {
  return Array.from({ length: LETTERS }, () => String.fromCharCode(97 + Math.floor(random() * 26))).join('')
}

function digit(random: Random): number {
  return Math.floor(random() * 10)
}

function digits(count: number, random: Random): string {
  return Array.from({ length: count }, () => digit(random)).join('')
}
