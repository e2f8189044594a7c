// Why the service disagrees, as far as the records tell. Pure.
import type { Cause as RowCause } from '../diff/cause.ts'
import type { Row } from '../diff/rows.ts'
import type { Cause } from './words.ts'

/** A field that differs, and what the records say of it. */
export type Differing = Pick<Row, 'field' | 'cause' | 'asSeen'> & {
  /** What a GET showed last is what is desired: it was there once. */
  readonly agreedOnce: boolean
}

/** What is known beside the digests. */
export type Clues = {
  /** Fields that writes of unknown outcome carried since a GET last agreed. */
  readonly doubted: readonly string[]
  /** The looks after an unknown outcome are not over, or a crash hides what was sent. */
  readonly doubtful: boolean
  /** Another mapping was applied since the last ending, and it makes something else of the customer. */
  readonly mappingChanged: boolean
  /** A GET has shown all that was desired, once. */
  readonly verifiedOnce: boolean
}

/** The first that holds for any field is that of the user: our own doing is said before another's. */
const ORDER = [
  'unknown-outcome',
  'mapping-changed',
  'never-delivered',
  'edited-at-service',
] as const satisfies readonly Cause[]

export function causeOfFields(fields: readonly Differing[], clues: Clues): Cause {
  const causes = fields.map((field) => causeOfField(field, clues))
  return ORDER.find((cause) => causes.includes(cause)) ?? 'edited-at-service'
}

/** Of somebody who is wanted and not there. Every call that was doubted could have been about that. */
export function causeOfAbsence(cause: RowCause, clues: Clues): Cause {
  const { doubted, ...rest } = clues
  return causeOfField(
    { field: 'status', cause, asSeen: 'never', agreedOnce: false },
    { ...rest, doubted: doubted.length > 0 ? ['status'] : [] },
  )
}

/**
 * `edited-at-service` is claimed only where the desired value was acknowledged or shown once, and no call of ours since
 * then may have changed it. Where the digests tell nothing any more (they were made with another key), nothing is known
 * to have been delivered.
 */
function causeOfField({ field, cause, asSeen, agreedOnce }: Differing, clues: Clues): Cause {
  const { doubted, doubtful, mappingChanged, verifiedOnce } = clues
  const edited = doubtful || doubted.includes(field) ? 'unknown-outcome' : 'edited-at-service'
  const undelivered = mappingChanged ? 'mapping-changed' : 'never-delivered'
  switch (cause) {
    case 'in-doubt':
      return 'unknown-outcome'
    case 'changed-there':
    case 'just-written':
    case 'own-form':
    case 'acknowledged':
      return edited
    case 'never-delivered':
    case 'not-delivered-since':
      return agreedOnce ? edited : undelivered
    case 'owed':
    case 'changed-here':
      return undelivered
    case 'to-be-cleared':
      return asSeen === 'no' || (asSeen === 'never' && verifiedOnce) ? edited : undelivered
    case 'not-known':
    case 'refused':
    case 'left-out':
    case null:
      return 'never-delivered'
    default:
      return cause satisfies never
  }
}
