// Presets and dimensions for a person who looks for the one that is needed.
import { DURATION_FORM } from '../../model/duration.ts'
import { ABOUT, DIMENSIONS, type Dimension, DOCUMENTED, takes } from './dimensions.ts'
import { PRESETS } from './presets.ts'
import { kebab, wordFor } from './text.ts'

export type ContractList = {
  readonly presets: readonly { readonly name: string; readonly about: string; readonly contract: object }[]
  readonly dimensions: readonly {
    readonly name: string
    readonly about: string
    /** As words of the text form. */
    readonly takes: string
    /** The same; empty: none. */
    readonly default: string
  }[]
}

export function listContracts(): ContractList {
  return {
    presets: Object.entries(PRESETS).map(([name, preset]) => ({ name, ...preset })),
    dimensions: DIMENSIONS.map((dimension) => ({
      name: kebab(dimension),
      about: ABOUT[dimension],
      takes: alternatives(dimension),
      default: wordFor(dimension, DOCUMENTED[dimension]),
    })),
  }
}

/** Data goes line by line: a name, and what it is. */
export function sayContracts({ presets, dimensions }: ContractList): string[] {
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

function alternatives(dimension: Dimension): string {
  const what = takes(dimension)
  switch (what.kind) {
    case 'choice':
      return what.values.join('|')
    case 'duration':
      return 'DURATION'
    case 'text':
      return 'TEXT'
    default:
      return what satisfies never
  }
}
