// Contracts as a list of words: `legacy create-status=204 trial-ms=2m`.
import { DURATION_FORM, readDuration, sayDuration } from '../../model/duration.ts'
import { RollcallError } from '../../model/errors.ts'
import { MOST_PROBLEMS, notKnown, readDecoded, shorten } from '../problems.ts'
import {
  type Contract,
  type ContractInput,
  choicesOf,
  contract,
  DIMENSIONS,
  type Dimension,
  DOCUMENTED,
  expected,
} from './contract.ts'
import { isPreset, PRESETS } from './presets.ts'

/** For --help and for errors. */
export const CONTRACT_FORM = 'presets and dimension=value, in any number; what comes later wins'

/** The word or dimension that is wrong, and what it takes; a value is never repeated. */
type ContractProblem = readonly [name: string, text: string]
type ContractReading = {
  readonly contract: ContractInput
  readonly problems: readonly ContractProblem[]
}

/** A dimension's name in a word. */
export function kebab(dimension: Dimension): string {
  return dimension.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

const BY_WORD = new Map(DIMENSIONS.map((dimension) => [kebab(dimension), dimension]))

/** For the command line; throws RollcallError USAGE with a line for each word that is wrong. */
export function parseContract(text: string): ContractInput {
  const { contract, problems } = readContract(text)
  if (problems.length === 0) return contract
  throw new RollcallError(
    'USAGE',
    problems.map(([name, problem]) => `contract "${name}": ${problem}`),
  )
}

/** A preset sets the dimensions that it names, `documented` all of them. */
export function readContract(text: string): ContractReading {
  const words = text.split(/\s+/).filter((word) => word !== '')
  const problems: ContractProblem[] = words.length === 0 ? [['', `expected ${CONTRACT_FORM}`]] : []
  let read: ContractInput = {}
  for (const word of words) {
    if (problems.length === MOST_PROBLEMS) break // the search for a name that was meant takes time
    const [name = ''] = word.split('=', 1)
    const dimension = BY_WORD.get(name)
    if (isPreset(word)) read = { ...read, ...PRESETS[word].contract }
    else if (isPreset(name)) problems.push([name, 'a preset takes no value'])
    else if (dimension === undefined) {
      const known = word === name ? [...Object.keys(PRESETS), ...BY_WORD.keys()] : [...BY_WORD.keys()]
      problems.push([shorten(name), notKnown(name, known)])
    } else {
      const value = contract.shape[dimension].safeParse(readValue(dimension, word.slice(name.length + 1)))
      if (word !== name && value.success) read = { ...read, [dimension]: value.data }
      else problems.push([name, `expected ${expected(dimension)}`])
    }
  }
  return { contract: read, problems }
}

/** Undefined would be taken for the default, so an unreadable value is NaN, which no dimension takes. */
function readValue(dimension: Dimension, text: string): string | number | null {
  const choices = choicesOf(dimension)
  if (choices !== null) return choices.find((value) => String(value) === text) ?? Number.NaN
  if (isDuration(dimension)) return readDuration(text) ?? Number.NaN
  return text === '' ? null : readDecoded(text)
}

function isDuration(dimension: Dimension): boolean {
  return dimension.endsWith('Ms')
}

/** The dimensions that differ from their default, as words; '' when none does. */
export function formatContract(live: Contract): string {
  return DIMENSIONS.filter((dimension) => live[dimension] !== DOCUMENTED[dimension])
    .map((dimension) => `${kebab(dimension)}=${wordFor(dimension, live[dimension])}`)
    .join(' ')
}

function wordFor(dimension: Dimension, value: string | number | null): string {
  if (typeof value === 'number' && isDuration(dimension)) return sayDuration(value)
  return encodeURIComponent(String(value ?? '').toWellFormed())
}

/** Presets and dimensions; `takes` and `default` as in words, an empty default means none. */
export function listContracts() {
  return {
    presets: Object.entries(PRESETS).map(([name, preset]) => ({ name, ...preset })),
    dimensions: DIMENSIONS.map((dimension) => ({
      name: kebab(dimension),
      about: contract.shape[dimension].description ?? '',
      takes: choicesOf(dimension)?.join('|') ?? (isDuration(dimension) ? 'DURATION' : 'TEXT'),
      default: wordFor(dimension, DOCUMENTED[dimension]),
    })),
  }
}

export function renderContracts({ presets, dimensions }: ReturnType<typeof listContracts>): string[] {
  return [
    'Presets:',
    ...presets.map(({ name, about }) => `  ${name.padEnd(18)} ${about}`),
    '',
    `Dimensions, with their defaults; DURATION is ${DURATION_FORM}:`,
    ...dimensions.flatMap(({ name, about, takes, default: usual }) => [
      `  ${name}=${takes}${usual === '' ? '' : ` (${usual})`}`,
      `      ${about}`,
    ]),
  ]
}
