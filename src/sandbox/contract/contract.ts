// A contract says how the sandbox answers where the interface document does not. Each dimension has the sandbox's own
// choice as its default; rollcall has to cope with every value.
import { z } from 'zod'
import { DURATION_FORM, sayDuration } from '../../model/duration.ts'

const DAY_MS = 86_400_000

/** In the order of lists; the descriptions are for lists too. */
export const contract = z.strictObject({
  createStatus: z
    .literal([200, 201, 202, 204])
    .default(201)
    .describe('answer to a create that was carried out'),
  createBody: z.enum(['user', 'none', 'ok', 'id']).default('user').describe('and its body; a 204 has none'),
  updateStatus: z
    .literal([200, 202, 204])
    .default(200)
    .describe('answer to a PUT or PATCH that was carried out'),
  updateBody: z.enum(['user', 'none', 'ok', 'null']).default('user').describe('and its body; a 204 has none'),
  duplicate: z
    .literal([409, 422, 400, 'upsert'])
    .default(409)
    .describe('create of a user who exists; upsert: a full update, answered like a create'),
  unknownUser: z
    .literal([404, 410, 'null'])
    .default(404)
    .describe('GET, PUT or PATCH of a user who does not exist; null: 200 with JSON null'),
  refusal: z
    .enum(['details', 'opaque', 'html'])
    .default('details')
    .describe('a body that does not fit or is no JSON: a reason, a 400 without one, a 400 with an HTML page'),
  refuses: z
    .enum(['nothing', 'description'])
    .default('nothing')
    .describe('a field whose values are refused although they fit'),
  unique: z
    .enum(['nothing', 'email'])
    .default('nothing')
    .describe("a field that no two users may have alike; another user's value is answered 409"),
  nulls: z.enum(['null', 'absent', 'empty']).default('null').describe('a field without a value, in a GET'),
  numbers: z.enum(['number', 'text']).default('number').describe('status and gender, in a GET'),
  visibleAfterMs: z
    .int()
    .min(0)
    .max(600_000)
    .default(0)
    .describe('how long a GET goes on showing the state before a write'),
  forbidden: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe('server-to-server calls about a user_id that contains this are answered 403; empty: none'),
  trialMs: z
    .int()
    .min(1)
    .max(3650 * DAY_MS)
    .default(14 * DAY_MS)
    .describe('how long status 4 gives access'),
  trialEnd: z
    .enum(['flips', 'stays'])
    .default('flips')
    .describe('after the trial a GET shows status 0, or still 4; chat is closed either way'),
  trialAgain: z
    .enum(['restarts', 'continues'])
    .default('continues')
    .describe('what another write of 4 does to it'),
  email: z.enum(['kept', 'lower-case']).default('kept').describe('the e-mail, in a GET'),
  phone: z
    .enum(['joined', 'kept', 'formatted'])
    .default('joined')
    .describe('the phone, in a GET: prefix and number joined, as sent, or like +34 612 345 678'),
  names: z
    .enum(['table', 'sample'])
    .default('table')
    .describe('photo and speciality_id, or avatar and speciality, of a professional'),
  roomId: z.enum(['number', 'text']).default('number').describe('id of a room, in the list of professionals'),
  order: z
    .enum(['oldest-first', 'newest-first', 'shuffled'])
    .default('oldest-first')
    .describe('order of a page of messages'),
  pivot: z
    .enum(['excluded', 'included'])
    .default('excluded')
    .describe('whether a page of messages holds its pivot'),
})

/** With every dimension, and as a caller may write it. */
export type Contract = z.output<typeof contract>
export type ContractInput = z.input<typeof contract>
export type Dimension = keyof Contract

export const DIMENSIONS = Object.keys(contract.shape) as readonly Dimension[]
/** The contract with every dimension at its default. */
export const DOCUMENTED: Contract = contract.parse({})

/** The contract in force; it may change while the sandbox runs. */
export type LiveContract = {
  readonly now: Contract
  /** Dimensions that are not named take their default; throws a ZodError and then changes nothing. */
  set(contract: ContractInput): void
}

export function makeContract(start: ContractInput): LiveContract {
  let live = contract.parse(start)
  return {
    get now() {
      return live
    },
    set(next) {
      live = contract.parse(next)
    },
  }
}

export type Takes =
  | { readonly kind: 'choice'; readonly values: readonly (string | number)[] }
  | { readonly kind: 'duration'; readonly minMs: number; readonly maxMs: number }
  /** Any text but the empty one, or none. */
  | { readonly kind: 'text' }

/** Throws for a kind of dimension that has no written form yet. */
export function takes(dimension: Dimension): Takes {
  const inner = contract.shape[dimension].unwrap()
  if (inner instanceof z.ZodLiteral) return { kind: 'choice', values: [...inner.values] }
  if (inner instanceof z.ZodEnum) return { kind: 'choice', values: inner.options }
  if (inner instanceof z.ZodNullable) return { kind: 'text' }
  if (inner instanceof z.ZodNumber && inner.minValue !== null && inner.maxValue !== null) {
    return { kind: 'duration', minMs: inner.minValue, maxMs: inner.maxValue }
  }
  throw new Error(`no way to write ${dimension}`)
}

/** What a dimension takes as a word. */
export function expected(dimension: Dimension): string {
  const what = takes(dimension)
  if (what.kind === 'choice') return what.values.join(', ')
  if (what.kind === 'text') return 'a text, percent-encoded where it holds spaces, or nothing'
  return `${sayDuration(what.minMs)} to ${sayDuration(what.maxMs)}: ${DURATION_FORM}`
}
