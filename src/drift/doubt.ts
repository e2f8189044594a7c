import { silentOf } from './tally.ts'
import type { Doubt, Tally } from './words.ts'

/** So few answers say nothing of the service as a whole. */
const HARDLY_ANY = 5

/**
 * A service that suddenly knows nobody, takes our keys no more or answers nothing that can be read is not one whose
 * users are all missing: it is another service, an emptied one, or one that is out of order. More than half of all is
 * such a mass, whatever the limit for repairs is. Null: the answers can be believed.
 */
export function doubtOf({
  checked,
  kinds,
  vanished,
  noAnswer,
}: Pick<Tally, 'checked' | 'kinds' | 'vanished' | 'noAnswer'>): Doubt | null {
  const silent = silentOf({ noAnswer })
  const denied = noAnswer.denied ?? 0
  const asked = checked + silent
  if (asked === 0) return null
  const unclear = silent + (kinds.unreadable ?? 0)
  // Where nobody was answered it is the service, however few there were.
  if (silent === asked || (asked >= HARDLY_ANY && unclear * 2 > asked))
    return denied * 2 > silent ? 'denied' : 'no-answers'
  if (checked < HARDLY_ANY) return null
  return vanished * 2 > checked ? 'nobody-there' : null
}
