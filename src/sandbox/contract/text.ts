// Contracts as a list of words: `legacy createStatus=204 trialMs=2m`.
import { DURATION_FORM, readDuration } from '../../model/duration.ts'
import { words } from '../../model/values.ts'
import { checkOption } from '../problems.ts'
import { type Contract, choicesOf, contract, DIMENSIONS, DOCUMENTED, isPreset, PRESETS } from './contract.ts'

/** For --help. */
export const CONTRACT_FORM = 'presets and DIMENSION=VALUE, in any number; what comes later wins'

/** For the command line; throws RollcallError USAGE. */
export function parseContract(text: string): Contract {
  return checkOption(contract, contractFromWords(text), `--contract "${text}"`)
}

/** The words as an object for the schema, which says what is wrong; a preset sets the dimensions that it names. */
export function contractFromWords(text: string): object {
  return Object.fromEntries(
    words(text).flatMap((word): [string, unknown][] => {
      if (isPreset(word)) return Object.entries(PRESETS[word].contract)
      const [name = ''] = word.split('=', 1)
      return [[name, word === name ? Number.NaN : readValue(name, word.slice(name.length + 1))]]
    }),
  )
}

/** Figures where the default is one; durations may have their unit. */
function readValue(name: string, text: string): unknown {
  const isFigure = DIMENSIONS.some((each) => each === name && typeof DOCUMENTED[each] === 'number')
  return isFigure ? (readDuration(text) ?? text) : text
}

/** The dimensions that differ from their default, as words; '' when none does. */
export function formatContract(live: Contract): string {
  return DIMENSIONS.filter((dimension) => live[dimension] !== DOCUMENTED[dimension])
    .map((dimension) => `${dimension}=${live[dimension]}`)
    .join(' ')
}

/** Presets and dimensions; an empty default means none. */
export function listContracts() {
  return {
    presets: Object.entries(PRESETS).map(([name, preset]) => ({ name, ...preset })),
    dimensions: DIMENSIONS.map((name) => ({
      name,
      about: contract.shape[name].description ?? '',
      takes: choicesOf(name)?.join('|') ?? (name.endsWith('Ms') ? 'DURATION' : 'TEXT'),
      default: String(DOCUMENTED[name] ?? ''),
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
