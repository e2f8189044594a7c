// Contracts as text, for the command line: `legacy create-status=204 trial-ms=2m`.
import { readDuration, sayDuration } from '../../model/duration.ts'
import { RollcallError } from '../../model/errors.ts'
import { MOST_PROBLEMS, notKnown, shorten } from '../told.ts'
import { type Contract, type ContractInput, contract } from './contract.ts'
import { DIMENSIONS, type Dimension, DOCUMENTED, expected, takes } from './dimensions.ts'
import { isPreset, PRESETS } from './presets.ts'

/** What the text form looks like, for --help and for errors. */
export const CONTRACT_FORM = 'presets and dimension=value, in any number; what comes later wins'

/** `name` is the word or the dimension that is wrong, `text` what it takes; a value is never repeated. */
export type ContractProblem = { readonly name: string; readonly text: string }
export type ContractReading = {
  readonly contract: ContractInput
  readonly problems: readonly ContractProblem[]
}

/** A dimension's name in the text form. */
export function kebab(dimension: Dimension): string {
  return dimension.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

const BY_WORD = new Map(DIMENSIONS.map((dimension) => [kebab(dimension), dimension]))

/**
 * Words in the order in which they stand: a preset sets the dimensions it names, `documented` all of them.
 * Durations are as `readDuration` takes them; `forbidden` may be percent-encoded.
 *
 * Throws RollcallError USAGE that names every word that is wrong and what was expected.
 */
export function parseContract(text: string): ContractInput {
  const { contract, problems } = readWords(text)
  if (problems.length === 0) return contract
  throw new RollcallError(
    'USAGE',
    problems.map(({ name, text }) => `contract "${name}": ${text}`),
  )
}

/** The same, with the problems as data. */
export function readWords(text: string): ContractReading {
  const words = text.split(/\s+/).filter((word) => word !== '')
  const problems: ContractProblem[] =
    words.length === 0 ? [{ name: '', text: `expected ${CONTRACT_FORM}` }] : []
  let read: ContractInput = {}
  for (const word of words) {
    if (problems.length === MOST_PROBLEMS) break // to look for what was meant takes time
    const [name = ''] = word.split('=', 1)
    const dimension = BY_WORD.get(name)
    if (isPreset(word)) read = { ...read, ...PRESETS[word].contract }
    else if (dimension === undefined || name === word) problems.push(unknownWord(name, word))
    else {
      const value = contract.shape[dimension].safeParse(readValue(dimension, word.slice(name.length + 1)))
      if (value.success) read = { ...read, [dimension]: value.data }
      else problems.push({ name: shorten(name), text: `expected ${expected(dimension, 'text')}` })
    }
  }
  return { contract: read, problems }
}

/** The dimensions that differ from their default, as `parseContract` reads them; '' when none does. */
export function formatContract(live: Contract): string {
  return DIMENSIONS.filter((dimension) => live[dimension] !== DOCUMENTED[dimension])
    .map((dimension) => `${kebab(dimension)}=${wordFor(dimension, live[dimension])}`)
    .join(' ')
}

/** Undefined would be taken for the default, so what cannot be read is NaN, which no dimension takes. */
function readValue(dimension: Dimension, text: string): string | number | null {
  const what = takes(dimension)
  switch (what.kind) {
    case 'choice':
      return what.values.find((value) => String(value) === text) ?? Number.NaN
    case 'duration':
      return readDuration(text) ?? Number.NaN
    case 'text':
      return text === '' ? null : decode(text)
    default:
      return what satisfies never
  }
}

function decode(text: string): string | number {
  try {
    return decodeURIComponent(text)
  } catch {
    return Number.NaN // half an escape
  }
}

/** A value as its dimension's word has it. */
export function wordFor(dimension: Dimension, value: string | number | null): string {
  if (typeof value === 'string') return encodeURIComponent(value.toWellFormed())
  if (value === null) return ''
  return takes(dimension).kind === 'duration' ? sayDuration(value) : String(value)
}

/** What to say of a word that is neither a preset nor a dimension with a value. */
function unknownWord(name: string, word: string): ContractProblem {
  const dimension = BY_WORD.get(name)
  if (dimension !== undefined) {
    return { name: shorten(word), text: `expected ${name}=…: ${expected(dimension, 'text')}` }
  }
  if (isPreset(name)) return { name: shorten(word), text: `${name} is a preset and takes no value` }
  const known = word === name ? [...Object.keys(PRESETS), ...BY_WORD.keys()] : [...BY_WORD.keys()]
  return { name: shorten(word === name ? word : `${name}=…`), text: notKnown(name, known) }
}
