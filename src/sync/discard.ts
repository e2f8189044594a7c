// A change that a person has discarded: for how long, and which parts of a plan, it keeps from being sent.
import type { HeldKind } from '../brake/brake.ts'
import type { Discard } from '../ledger/record.ts'
import type { Memory } from './memory.ts'
import { type ClaimEnd, resultOfCalls } from './next-plan.ts'
import type { ClaimedCustomer } from './read-customer.ts'

type Customer = Pick<ClaimedCustomer, 'record' | 'mapped' | 'digests' | 'desiredDigest'>

/**
 * A discard is for one desired user. After a rotation of the digest key the two cannot be compared: then it counts as one
 * for the present desired user, and nothing is sent that a person did not want.
 */
function isFor({ desired }: Discard, { desiredDigest, ...customer }: Customer): boolean {
  return isRotated(customer) || desired === null || desired === desiredDigest
}

function isRotated({ record, digests }: Pick<Customer, 'record' | 'digests'>): boolean {
  return record.digestKeyId !== null && record.digestKeyId !== digests.keyId
}

/** The kinds that are not sent now. A discarded repair covers the fields that it names, as if it cleared them; or the user as a whole. */
export function discardedKinds(customer: Customer): readonly HeldKind[] {
  const { discard } = customer.record
  if (discard === null || customer.mapped.kind === 'rejected' || !isFor(discard, customer)) return []
  const { kinds, fields = [] } = discard
  const ofWhole = fields.length === 0 || fields.includes('status')
  const repair = ofWhole ? ['repair'] : fields.map((field) => `clear:${field}`)
  // We wrote them. A kind that is not one of ours matches none.
  return kinds.flatMap((kind) => (kind === 'repair' ? repair : kind)) as readonly HeldKind[]
}

/** Whether a write now would be for another desired user. Such a write ends the discard. */
export function isDiscardOver(customer: Customer): boolean {
  const { discard } = customer.record
  return discard !== null && !isFor(discard, customer)
}

/** A 404 may be a gateway's, so it says nothing about a discarded change. */
export function showsUser({ made, remote }: Pick<Memory, 'made' | 'remote'>): boolean {
  return remote === 'present' && made.some(({ method }) => method === 'GET')
}

/** A GET that shows the user ends the discard of its registration: later the user may really be missing. */
export function leftOf(discard: Discard, memory: Pick<Memory, 'made' | 'remote'>): Discard {
  const isOver = (kind: string) => kind === 'create' || kind === 'absence'
  return showsUser(memory) ? { ...discard, kinds: discard.kinds.filter((kind) => !isOver(kind)) } : discard
}

/**
 * The discard after a claim: it lasts until a GET shows the desired user, or a claim settles or writes another one. A row that cannot be mapped says nothing about the desired user.
 */
export function discardAfter({
  end,
  memory,
  ...customer
}: Customer & { readonly end: ClaimEnd; readonly memory: Memory }): Discard | null {
  const { discard } = customer.record
  if (discard === null) return null
  if (customer.mapped.kind === 'rejected')
    return isRotated(customer) ? { ...discard, desired: null } : discard
  const state = end.kind === 'settle' ? end.state : null
  if (isDiscardOver(customer))
    return state !== null || resultOfCalls(memory).writes !== 'none' ? null : discard
  if (state === 'idle') return null
  const left = { ...leftOf(discard, memory), desired: customer.desiredDigest }
  return left.kinds.length > 0 ? left : null
}
