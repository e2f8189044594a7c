// Every guard of the protocol by name, with the theme of runs in which its absence shows soonest. The model
// runs with all of them, and once without each: a guard whose removal the model cannot tell is either not
// needed or the model is too weak.
import type { Theme } from './scene.ts'

/** `seed`: shortly before the first that shows it, where that is a late one. */
export type Entry = readonly [says: string, theme: Theme, seed?: number]

export const GUARDS = {
  outboxByDelete: ['the outbox is read by deleting, not by "id greater than the last"', 'anything'],
  noteInDrainTransaction: ['outbox rows are deleted and noted in one transaction', 'anything'],
  noteWhileTokenOutKeepsDue: ['a note leaves due_at alone while a token is out', 'late'],
  sweepKeepsDue: ['a sweep or repair never moves a due_at that is set', 'late'],
  notBeforeRespected: ['a change does not shorten the wait of not_before', 'late'],
  replanNotedWithClear: ['a passed replan_at is noted and cleared in one transaction', 'anything'],
  leaseFreshToken: ['every lease has a token that was never used', 'sends'],
  leaseClearsCall: ['a lease that finds an open call mark removes it', 'late'],
  leaseMarksUnknown: ['a lease that finds an open call mark makes the remote side unknown', 'late'],
  leaseMarksHidden: ['a lease that finds an open call mark makes the hidden part unknown', 'late'],
  unleaseSparesClaims: ['leases are taken back only where no process has claimed them', 'anything'],
  claimMark: ['the claim leaves a mark that survives a crash', 'late'],
  claimSurvivesCrash: ['a crash of the database does not take back a claim', 'crash'],
  claimSingleUse: ['no claim while a call is open', 'late'],
  claimTokenGuard: ['a claim needs the token of the present lease', 'late'],
  readAfterClaim: ['the customer is read after the claim', 'anything'],
  versionBeforeRow: ['the version settled is the one of the claim, not one read after the customer', 'late'],
  clockCheckBeforeCall: ['no call is sent when its lifetime might not suffice', 'late'],
  clockFromBeforeClaim: ['the lifetime is measured from before the claim was sent', 'late'],
  clockGrace: ['the time left must cover the grace too, not only the timeout', 'late'],
  lookupWhenUnknown: ['an unknown remote side is looked up before anything is written', 'late'],
  unaskedRevokeLooksUp: [
    'a customer without any call yet is looked up before its removal is done',
    'anything',
  ],
  lookupReplacesMemory: ['what a lookup shows replaces what was remembered', 'late'],
  failedLookupChangesNothing: ['a failed lookup is not taken for "no such user"', 'sends'],
  createRefusedMeansLookup: ['a refused create is followed by a lookup', 'anything'],
  updateRefused404MeansAbsent: ['an update answered 404 means that the user is absent', 'anything'],
  unknownOn5xx: ['a 5xx to a write makes the remote side unknown', 'people'],
  unknownOnTimeout: ['a write without an answer makes the remote side unknown', 'late'],
  unknownWaitsLifetime: ['after an unknown outcome nothing happens before the lifetime has passed', 'late'],
  unknownWaitsRequest: [
    'after an unknown outcome nothing happens while its request may arrive',
    'sends',
    8000,
  ],
  unmatchedWaitsRequest: ['nor after an unknown outcome that matched no row', 'sends'],
  suspectKeepsWait: ['a settle does not shorten that wait', 'sends'],
  claimWaitsNotBefore: ['no claim before not_before, though it was leased before that was set', 'sends'],
  unclearCountsAfterLookup: [
    'in a claim that has looked such an answer to an update counts as a yes',
    'mute',
  ],
  verifyAfterUnclear: ['that yes is looked up once more', 'mute'],
  verifyChanged: ['so is one of a lookup, where the customer has changed', 'mute', 246_000],
  unknownForgetsHidden: ['an unknown outcome forgets the hidden part that the call carried', 'verify'],
  hiddenUnknownResends: ['after a crash the hidden part counts as never acknowledged', 'sends'],
  hiddenUnknownForgets: ['after a crash the record claims the hidden part only if sent again', 'sends'],
  hiddenUnknownSurvives: [
    'a settle does not clear an unknown hidden part that was noted after its claim',
    'sends',
  ],
  settleTokenGuard: ['an ending needs the token of the present lease', 'sends'],
  settleByTokenOnly: ['a settle is not thrown away because the version has risen', 'anything'],
  settleRecordsAck: ['a settle records what was acknowledged', 'anything'],
  settleNeedsSureness: ['an ending without a trusted answer leaves the remote side unknown', 'late'],
  dueAgainWhenVersionRose: ['a settle leaves the customer due when the version has risen', 'anything'],
  retryKeepsUnknown: ['a retry leaves the remote side as unknown as it was', 'sends'],
  unmatchedMarksSuspect: ['an ending that matches no row makes the customer suspect and due', 'sends'],
  unmatchedMarksHidden: ['an ending that matches no row makes the hidden part unknown', 'sends'],
  unmatchedRaisesVersion: ['an ending that matches no row raises the version', 'sends'],
  suspectSurvivesSettle: ['a settle does not clear a suspicion noted after its claim', 'sends'],
  verifyAfterUnknown: ['the settle that ends an unknown outcome plans another lookup', 'verify'],
  lookupWaitsForLag: ['no lookup soon after an acknowledged write, while reads may lag', 'verify', 21_900],
  noteTakesCheck: ['whatever raises a version takes the row from a check', 'checks'],
  suspectTakesCheck: ['so does an ending that matches no row', 'checks'],
  checkEndsByToken: ['a check whose token was taken stores nothing', 'checks'],
  deadCheckLeavesNothingUnknown: ['a check that died leaves nothing unknown', 'checks'],
  differenceWaitsForNotes: ['a difference is stored once what is captured by then is noted', 'checks'],
  checkWaitsForLag: ['no check soon after an acknowledged write, while reads may lag', 'checks', 25_500],
  checkKeepsMemory: ['a check that differs changes nothing that is remembered', 'checks'],
  writeEndsFinding: ['a write that carried all that differed ends the finding', 'checks'],
} as const satisfies Record<string, Entry>

export type Guard = keyof typeof GUARDS
export type Guards = Readonly<Record<Guard, boolean>>

export const GUARD_NAMES = Object.keys(GUARDS) as Guard[]

export function allGuards(): Guards {
  return Object.fromEntries(GUARD_NAMES.map((name) => [name, true])) as Guards
}

export function without(...removed: readonly Guard[]): Guards {
  return { ...allGuards(), ...Object.fromEntries(removed.map((name) => [name, false])) }
}
