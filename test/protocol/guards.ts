// Every guard of the protocol by name. The model runs with all of them, and once without each: a guard whose
// removal the model cannot tell is either not needed or the model is too weak.
export const GUARDS = {
  outboxByDelete: 'the outbox is read by deleting, not by "id greater than the last"',
  noteInDrainTransaction: 'the outbox rows are deleted and the changes noted in one transaction',
  noteWhileTokenOutKeepsDue: 'a note leaves due_at alone while a token is out',
  sweepKeepsDue: 'a sweep or repair never moves a due_at that is set',
  notBeforeRespected: 'a change does not shorten the wait of not_before',
  replanNotedWithClear: 'a passed replan_at is noted and cleared in one transaction',
  leaseFreshToken: 'every lease has a token that was never used',
  leaseClearsCall: 'a lease that finds an open call mark removes it',
  leaseMarksUnknown: 'a lease that finds an open call mark makes the remote side unknown',
  leaseMarksBlind: 'a lease that finds an open call mark makes the hidden part unknown',
  claimMark: 'the claim leaves a mark that survives a crash',
  claimSingleUse: 'no claim while a call is open',
  claimTokenGuard: 'a claim needs the token of the present lease',
  readAfterClaim: 'the customer is read after the claim',
  versionBeforeRow: 'the version settled is the one of the claim, not one read after the customer',
  clockCheckBeforeCall: 'no call is sent when its lifetime might not suffice',
  clockFromBeforeClaim: 'the lifetime is measured from before the claim was sent',
  clockGrace: 'the time left must cover the grace too, not only the timeout',
  lookupWhenUnknown: 'an unknown remote side is looked up before anything is written',
  unaskedRevokeLooksUp:
    'a customer that was never asked about is looked up before its removal counts as done',
  lookupReplacesMemory: 'what a lookup shows replaces what was remembered',
  failedLookupChangesNothing: 'a failed lookup is not taken for "no such user"',
  createRefusedMeansLookup: 'a refused create is followed by a lookup',
  updateRefused404MeansAbsent: 'an update answered 404 means that the user is absent',
  unknownOn5xx: 'a 5xx to a write makes the remote side unknown',
  unknownOnTimeout: 'a write without an answer makes the remote side unknown',
  unknownWaitsLifetime: 'after an unknown outcome nothing happens before the lifetime has passed',
  unknownForgetsHidden: 'an unknown outcome forgets the hidden part that the call carried',
  blindResendsHidden: 'after a crash the hidden part counts as never acknowledged',
  blindForgetsInLedger: 'after a crash the record claims the hidden part only if it was sent again',
  blindSurvivesSuspect: 'a settle does not clear a blindness noted after its claim',
  settleTokenGuard: 'an ending needs the token of the present lease',
  settleByTokenOnly: 'a settle is not thrown away because the version has risen',
  settleRecordsAck: 'a settle records what was acknowledged',
  settleNeedsSureness: 'an ending without a trusted answer leaves the remote side unknown',
  dueAgainWhenVersionRose: 'a settle leaves the customer due when the version has risen',
  retryKeepsUnknown: 'a retry leaves the remote side as unknown as it was',
  unmatchedMarksSuspect: 'an ending that matches no row makes the customer suspect and due',
  unmatchedMarksBlind: 'an ending that matches no row makes the hidden part unknown',
  unmatchedRaisesVersion: 'an ending that matches no row raises the version',
  suspectSurvivesSettle: 'a settle does not clear a suspicion noted after its claim',
  unleaseSparesClaims:
    'leases that did not reach the queue are taken back only where nobody has claimed them',
  releaseWaitsForToken: 'a release touches no customer whose token is out',
  verifyGuarded: 'a verification is dropped when anything moved during its GET',
  versionsNeverRestart: 'versions go on counting for ever',
  consistencyDelay: 'no verification soon after a settle, while reads may lag',
  verifyAfterUnknown: 'the settle that ends an unknown outcome plans a verification',
} as const

export type Guard = keyof typeof GUARDS
export type Guards = Readonly<Record<Guard, boolean>>

export const GUARD_NAMES = Object.keys(GUARDS) as Guard[]

export function allGuards(): Guards {
  return Object.fromEntries(GUARD_NAMES.map((name) => [name, true])) as Guards
}

export function without(...removed: readonly Guard[]): Guards {
  return { ...allGuards(), ...Object.fromEntries(removed.map((name) => [name, false])) }
}
