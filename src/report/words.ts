// The words of drift for people: a name and a sentence for each. In plain text; each format escapes it in its own way.
import type { DriftCause, DriftKind, NoAnswer, Resolved, Skipped, WrongAccess } from '../drift/words.ts'
import { figure } from './figures.ts'

export type Named = { readonly name: string; readonly means: string }

/** The most serious first, which is the order in which a report lists them after access. */
export const KIND: Readonly<Record<DriftKind, Named>> = {
  'unexpected-access': {
    name: 'Unexpected access',
    means: 'removed or out of scope in the database, but the service still gives access',
  },
  missing: { name: 'Missing', means: 'should be registered, but the service does not know the user' },
  differs: { name: 'Differs', means: 'a field of the user differs from the database' },
  unreadable: { name: 'Unreadable', means: 'the service answers with a 2xx that does not show this user' },
  'trial-ended': {
    name: 'Trial ended',
    means: 'status 0 instead of 4: the trial ended by itself, or a person ended it; no drift',
  },
}

export const ACCESS: Readonly<Record<WrongAccess, Named>> = {
  lost: { name: 'Access lost', means: 'wrongly without access' },
  undue: { name: 'Access undue', means: 'wrongly with access' },
}

export function renderAmongHeld(held: number, all: number): string {
  if (held === 0) return ''
  if (held < all) return ` (${figure(held)} of them held by the brake)`
  if (all === 1) return ' (held by the brake)'
  return ` (${all === 2 ? 'both' : `all ${figure(all)}`} held by the brake)`
}

export const MANY_MISSING =
  'Until checks find most users again, checks neither report nor repair further missing or unreadable users. Check SERVICE_URL, and whether the service was emptied. If the ' +
  'users are really gone, run `rollcall drift --credible --why …`'

export const CAUSE: Readonly<Record<DriftCause, Named>> = {
  'never-delivered': {
    name: 'Never delivered',
    means: 'the service has never acknowledged what your data asks for now',
  },
  'unknown-outcome': {
    name: 'Unknown outcome',
    means:
      'rollcall was not sure what the service has. Possible reasons: a call had no clear answer, the service did not find the user, or `rollcall migrate --target new` was run',
  },
  'edited-at-service': {
    name: 'Changed at the service',
    means:
      'the service once had the user, or the value, as rollcall sent or saw it, and no later call in the log of rollcall explains the difference',
  },
  'mapping-changed': {
    name: 'Mapping changed',
    means: 'the mapping changed after the last delivery, and this customer is not synced with it yet',
  },
  normalised: {
    name: 'Stored in another form',
    means: 'the service shows the value in another form than the one sent',
  },
}

/** Each goes on from "12 customers". */
export const SKIP: Readonly<Record<Skipped, string>> = {
  owed: 'owed a sync',
  'just-written': 'written a moment ago',
  changed: 'changed or checked by another process meanwhile',
  'not-ours': 'never in scope, so rollcall has registered no user',
  rejected: 'rejected (`rollcall failures` shows why)',
  held: 'not checked, but counted as different: the brake holds the change (`rollcall held`)',
  discarded: 'with a change that a person has discarded (not counted as drift)',
  'unreadable-row': 'with an unreadable row, or with a table that lacks active triggers',
}

export const NO_ANSWER: Readonly<Record<NoAnswer, string>> = {
  unreached: 'no connection, or no answer in time',
  trouble: 'the service failed (5xx, 408)',
  error: 'a 2xx that reports an error (success: false, an error field)',
  denied: 'the API keys were refused (401 or 403)',
  busy: 'too many calls (429)',
  refused: 'the request was refused (3xx, 400, 422 and others)',
}

export const RESOLUTION: Readonly<Record<Resolved, string>> = {
  repaired: 'repaired by rollcall',
  'by-itself': 'up to date again, without a write by rollcall',
  otherwise: 'the user differs in another way now',
  'by-a-change': 'the customer has changed since',
  accepted: 'a person has discarded a change of this customer',
  normalised: 'the service stores the value in another form',
  gone: 'nothing is left to check',
}
