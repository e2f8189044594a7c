// What may differ between a binding and the present, and what an operator does about each.
import { RollcallError } from '../model/errors.ts'

/** `behind`: the queue remembers more than the database; see worker/witness.ts. */
export type DifferenceKind = 'service' | 'database' | 'restored' | 'behind' | 'timeline' | 'key'

/** `says`: for a person, without a key. */
export type TargetDifference = { readonly kind: DifferenceKind; readonly says: string }

const NEW = '`rollcall migrate --target new`'
const SAME = '`rollcall migrate --target same`'
const BACK = `Run ${NEW}: the service may hold changes that this database no longer remembers, so every customer is looked up.`

/** The likeliest remedy first. Of several differences the first one here decides. */
const REMEDIES: Readonly<Record<DifferenceKind, string>> = {
  service: `If SERVICE_URL is wrong, correct it. If it is another service, run ${NEW}. If the same service has moved, run ${SAME}.`,
  database: `If this is a copy for tests, set SERVICE_URL and the keys of a test service, then run ${NEW}. If the database has moved and lost nothing, run ${SAME}. If it comes from a backup, run ${NEW}.`,
  restored: BACK,
  behind: BACK,
  timeline: `If a standby was promoted and lost nothing, run ${SAME}. After a recovery to a point in time, run ${NEW}.`,
  key: `If SERVICE_API_KEY or ROLLCALL_DIGEST_KEY is wrong, correct it. If it was rotated, run ${SAME}.`,
}

const ORDER = Object.keys(REMEDIES) as DifferenceKind[]

/** What to do; null where nothing differs. */
export function remedyFor(differences: readonly TargetDifference[]): string | null {
  const first = ORDER.find((kind) => differences.some((each) => each.kind === kind))
  return first === undefined ? null : `${REMEDIES[first]} docs/restoring.md says more.`
}

export function targetChanged(differences: readonly TargetDifference[]): RollcallError {
  const todo = remedyFor(differences)
  return new RollcallError(
    'TARGET_CHANGED',
    differences.map(({ says }) => says),
    todo === null ? {} : { todo },
  )
}
