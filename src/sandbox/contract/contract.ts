// A contract says how the sandbox answers where the interface document does not. Each dimension has the sandbox's own
// choice as its default; rollcall has to cope with every value. As words: `legacy createStatus=204 trialMs=2m`.
import * as z from 'zod'
import { DURATION_FORM, readDuration, renderDuration } from '../../model/duration.ts'
import { words } from '../../model/values.ts'
import { checkOption, milliseconds } from '../problems.ts'

const DAY_MS = 86_400_000

/** In the order of lists; the descriptions are for lists too. */
export const contract = z.strictObject({
  createStatus: choice([201, 200, 202, 204], 'answer to a create that was carried out'),
  createBody: choice(['user', 'none', 'ok', 'id'], 'body of that answer; a 204 has none'),
  updateStatus: choice([200, 202, 204], 'answer to a PUT or PATCH that was carried out'),
  updateBody: choice(['user', 'none', 'ok', 'null'], 'body of that answer; a 204 has none'),
  duplicate: choice(
    [409, 422, 400, 'upsert'],
    'answer to a create of an existing user; upsert: a full update',
  ),
  unknownUser: choice([404, 410, 'null'], 'answer to a call about an unknown user; null: 200 with JSON null'),
  refusal: choice(
    ['details', 'opaque', 'html'],
    'answer to a bad body. details: 422 with the reasons, or 400 if it is not JSON; opaque: a bare 400; html: a 400 with HTML',
  ),
  refuses: choice(['nothing', 'description'], 'a field that the sandbox refuses, even with a valid value'),
  unique: choice(
    ['nothing', 'email'],
    'a field with unique values; a write with a value of another user gets 409',
  ),
  nulls: choice(['null', 'absent', 'empty'], 'a field without a value, in a GET'),
  numbers: choice(['number', 'text'], 'status and gender, in a GET'),
  visibleAfterMs: duration(0, 600_000, 0, 'the time until a GET shows a write'),
  forbidden: z
    .string()
    .min(1, 'expected a text')
    .nullable()
    .default(null)
    .describe('calls about a user_id that contains this text get 403, but not chat calls'),
  trialMs: duration(1, 3650 * DAY_MS, 14 * DAY_MS, 'how long status 4 gives access'),
  trialEnd: choice(
    ['flips', 'stays'],
    'the status in a GET after the trial: 0 (flips) or 4 (stays); the chat ends in both cases',
  ),
  trialAgain: choice(['continues', 'restarts'], 'what another write of status 4 does to the trial'),
  email: choice(['kept', 'lower-case'], 'the e-mail, in a GET'),
  phone: choice(
    ['joined', 'kept', 'formatted'],
    'the phone number, in a GET; kept: as sent; formatted: like +34 612 345 678',
  ),
  names: choice(
    ['table', 'sample'],
    'how two fields of a professional are named: photo and speciality_id, as in the table of the interface document; or avatar and speciality, as in its sample',
  ),
  roomId: choice(['number', 'text'], 'id of a room, in the list of professionals'),
})

/** The first value is the default. */
function choice<const Value extends string | number>(values: readonly Value[], about: string) {
  return z
    .literal(values, `expected one of ${values.join(', ')}`)
    .default(values[0] as NonNullable<Value>)
    .describe(about)
}

function duration(minMs: number, maxMs: number, usual: number, about: string) {
  return milliseconds(minMs, maxMs).default(usual).describe(about)
}

/** With every dimension, and as a caller may write it. */
export type Contract = z.output<typeof contract>
export type ContractInput = z.input<typeof contract>
export type Dimension = keyof Contract

export const DIMENSIONS = Object.keys(contract.shape) as readonly Dimension[]
/** The contract with every dimension at its default. */
export const DOCUMENTED: Contract = contract.parse({})

/** The contract in force; it may change while the sandbox runs. */
export type LiveContract = ReturnType<typeof makeContract>

export function makeContract(start: ContractInput) {
  let live = contract.parse(start)
  return {
    get now() {
      return live
    },
    /** Dimensions that are not named take their default; throws a ZodError and then changes nothing. */
    set(next: ContractInput): void {
      live = contract.parse(next)
    },
  }
}

/** The values of a dimension that is a choice; null for durations, whose names end in `Ms`, and for texts. */
export function choicesOf(dimension: Dimension): readonly (string | number)[] | null {
  const inner = contract.shape[dimension].unwrap()
  return inner instanceof z.ZodLiteral ? [...inner.values] : null
}

export const PRESETS = {
  documented: preset(
    'The default: as the interface document says. Where it says nothing, the sandbox chooses.',
    DOCUMENTED,
  ),
  lagging: preset('Shows a write two seconds later.', { visibleAfterMs: 2000 }),
  terse: preset(
    'Gives the shortest answers: 204 for a write, a bare 400, only fields with a value in a GET.',
    {
      ...{ createStatus: 204, updateStatus: 204, duplicate: 400, refusal: 'opaque' },
      ...{ nulls: 'absent', phone: 'kept' },
    },
  ),
  legacy: preset(
    'An old application: 200 for a write, null for unknown users, refusals in HTML, numbers as text.',
    {
      ...{ createStatus: 200, createBody: 'ok', updateBody: 'null', duplicate: 400, unknownUser: 'null' },
      ...{ refusal: 'html', nulls: 'empty', numbers: 'text', email: 'lower-case', trialEnd: 'stays' },
      ...{ names: 'sample', roomId: 'text' },
    },
  ),
  eventual: preset('Queues every write: 202, no body, visible two seconds later; creates are upserts.', {
    ...{ createStatus: 202, createBody: 'none', updateStatus: 202, updateBody: 'none' },
    ...{ duplicate: 'upsert', visibleAfterMs: 2000 },
  }),
}

export function isPreset(name: unknown): name is keyof typeof PRESETS {
  return typeof name === 'string' && Object.hasOwn(PRESETS, name)
}

function preset(about: string, contract: ContractInput) {
  return { about, contract }
}

export const CONTRACT_FORM = 'presets and DIMENSION=VALUE; a later word overrides an earlier one'

/** For the command line; throws RollcallError USAGE. */
export function parseContract(text: string): Contract {
  const unknown = 'not known; `rollcall sandbox --contracts` lists the words'
  return checkOption(contract, contractFromWords(text), { option: `--contract "${text}"`, unknown })
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
      `  ${name}=${takes}${usual === '' ? '' : ` (${takes === 'DURATION' ? renderDuration(Number(usual)) : usual})`}`,
      `      ${about}`,
    ]),
  ]
}
