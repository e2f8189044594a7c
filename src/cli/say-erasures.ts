import type { Receipt } from '../ledger/erasures.ts'
import type { CustomerKey } from '../model/customer.ts'
import { UNVERIFIABLE_FIELD } from '../model/user.ts'
import { labelled } from './say-step.ts'
import { wrapped } from './say-wrapped.ts'
import { shown } from './shown.ts'

/** What remains by nature: the interface has no call that takes a user away (section 4). */
const REMAINS = 'user_id'

/** A receipt as other programs read it, with what it cannot say. */
export function asReceipt({ past, left, ...receipt }: Receipt) {
  return {
    ...receipt,
    /** Nobody looks for this one any more: the row came back, or another erasure followed. */
    superseded: past,
    left,
    unverifiable: receipt.fields.filter((field) => field === UNVERIFIABLE_FIELD),
    remains: [REMAINS],
  }
}

/** The receipts for a person; who was asked for and has none is named. */
export function sayErasures(receipts: readonly Receipt[], keys: readonly CustomerKey[]): string[] {
  const without = keys.filter((key) => !receipts.some((receipt) => receipt.key === key))
  const none = without.map((key) => `nothing was erased of customer ${shown(key)}`)
  if (receipts.length === 0 && keys.length === 0) return ['nothing was erased yet']
  if (receipts.length === 0) return none
  return [...receipts.flatMap((receipt) => [...sayReceipt(receipt), '']), ...none, ...REMARK]
}

/** For all of them alike. */
const REMARK = [
  'What remains: the user_id, since the service has no call that takes a user away.',
  `No look can show ${UNVERIFIABLE_FIELD}: that it was cleared is the service's word alone.`,
]

function sayReceipt(receipt: Receipt): string[] {
  const { key, userId, erasedAt, fields, left } = receipt
  return [
    `customer ${shown(key)}`,
    labelled('user', userId),
    labelled('erased', `${second(erasedAt)} UTC, answered by the service`),
    ...wrapped('cleared', fields.join(', ')),
    ...wrapped('verified', sayVerified(receipt)),
    ...(left && left.length > 0 ? wrapped('left', `still shown: ${left.join(', ')}`) : []),
  ]
}

function sayVerified({ verifiedAt, past, left }: Receipt): string {
  if (verifiedAt === null)
    return past
      ? 'no: the row came back, or the next erasure followed, before anybody looked'
      : 'not verified yet'
  return `${second(verifiedAt)} UTC, by a GET${left?.length === 0 ? ' that shows none of them' : ''}`
}

function second(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)}`
}
