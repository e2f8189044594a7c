// What the interface document does not show, by dimension: how a service may answer that is documented no further.
// Each dimension has the sandbox's own choice as its default; rollcall has to cope with every value.
import { z } from 'zod'

const DAY_MS = 86_400_000

export const contract = z.strictObject({
  /** Answer to a create that was carried out (section 4.3). */
  createStatus: z.literal([200, 201, 202, 204]).default(201),
  createBody: z.enum(['user', 'none', 'ok', 'id']).default('user'),
  /** Answer to an update that was carried out (sections 4.5 and 4.6). */
  updateStatus: z.literal([200, 202, 204]).default(200),
  updateBody: z.enum(['user', 'none', 'ok', 'null']).default('user'),
  /** A create of somebody who is there; `upsert`: taken for a full update and answered like a create. */
  duplicate: z.literal([409, 422, 400, 'upsert']).default(409),
  /** A user who is not there; `null`: 200 with JSON null, to a GET and to an update alike. */
  unknownUser: z.literal([404, 410, 'null']).default(404),
  /**
   * A body that is refused: 422 that names the fields (400 that says why for one that is no JSON), 400 that says
   * nothing, 400 with an HTML page.
   */
  refusal: z.enum(['details', 'opaque', 'html']).default('details'),
  /** A field whose values are refused although they fit section 2.6. */
  refuses: z.enum(['nothing', 'description']).default('nothing'),
  /** A field that no two users may have alike: a write with another user's value is a 409, in the form of `refusal`. */
  unique: z.enum(['nothing', 'email']).default('nothing'),
  /** How a GET shows a field without a value. */
  nulls: z.enum(['null', 'absent', 'empty']).default('null'),
  /** `status` and `gender` in a GET, as numbers or as numeric text. */
  numbers: z.enum(['number', 'text']).default('number'),
  /** How long a GET goes on showing what was there before a write. */
  visibleAfterMs: z.int().min(0).max(600_000).default(0),
  /** Server-to-server calls about users whose `user_id` contains this text are answered 403. */
  forbidden: z.string().min(1).nullable().default(null),
  /** How long status 4 gives access. A user has one trial. */
  trialMs: z
    .int()
    .min(1)
    .max(3650 * DAY_MS)
    .default(14 * DAY_MS),
  /** What a GET shows after it: status 0, or still 4. Chat is shut either way. */
  trialEnd: z.enum(['flips', 'stays']).default('flips'),
  /** What a write with status 4 does when the trial is running or over: starts it anew, or nothing. */
  trialAgain: z.enum(['restarts', 'continues']).default('continues'),
  /** The e-mail as a GET shows it. */
  email: z.enum(['kept', 'lower-case']).default('kept'),
  /** The phone as a GET shows it: both parts joined in `mobile_phone` (2.6, rule 3), as sent, or as +34 612 345 678. */
  phone: z.enum(['joined', 'kept', 'formatted']).default('joined'),
  /** A professional's `photo` and `speciality_id`, or `avatar` and `speciality` as in the sample (2.2). */
  names: z.enum(['table', 'sample']).default('table'),
  /** A room's `id` in a list of professionals (2.5). */
  roomId: z.enum(['number', 'text']).default('number'),
  /** Order of a page of messages; the sample runs oldest first (4.1). */
  order: z.enum(['oldest-first', 'newest-first', 'shuffled']).default('oldest-first'),
  /** Whether a page holds its pivot too. */
  pivot: z.enum(['excluded', 'included']).default('excluded'),
})

/** With every dimension, and as one may write it. */
export type Contract = z.output<typeof contract>
export type ContractInput = z.input<typeof contract>

/** The contract that is in force; it may change while the sandbox runs. */
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
