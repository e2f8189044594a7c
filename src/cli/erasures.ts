import { type Receipt, readErasures } from '../ledger/erasures.ts'
import type { CustomerKey } from '../model/customer.ts'
import { UNVERIFIABLE_FIELD } from '../model/user.ts'
import { withDatabase } from './connect.ts'
import type { AddCommand } from './io.ts'
import { recordedKeys } from './named.ts'
import { JSON_OPTION, wholeNumber } from './option-values.ts'
import { details, second, shown, tell } from './render.ts'

const RECEIPTS = 50

const EXAMPLES = `
With onRemove: 'erase', rollcall first revokes the access of a customer whose
row is deleted. Then a second call clears every optional field at the service.
If the service acknowledges this call, rollcall stores a receipt. This command
prints the receipts. It needs DATABASE_URL only, and no configuration.

Examples:
  rollcall erasures                 the last ${RECEIPTS} receipts, newest first
  rollcall erasures 4711            the receipts of this customer
  rollcall erasures --json --limit 1000`

export const erasuresCommand: AddCommand = (program, io) => {
  program
    .command('erasures')
    .argument('[key...]', 'customer keys')
    .option('--limit <number>', 'list at most this many', wholeNumber('--limit'), RECEIPTS)
    .option(...JSON_OPTION)
    .addHelpText('after', EXAMPLES)
    .action(async (given, { json, limit }) => {
      const { keys, receipts } = await withDatabase(io, {}, async (pool) => {
        const keys = await recordedKeys(pool, given)
        return { keys, receipts: await readErasures(pool, { keys, limit }) }
      })
      tell(io, json, receipts.map(asReceipt), () => renderErasures(receipts, keys))
    })
}

/** A receipt as other programs read it, with what it cannot say, and what remains: no call removes a user. */
function asReceipt({ past, left, ...receipt }: Receipt) {
  const unverifiable = receipt.fields.filter((field) => field === UNVERIFIABLE_FIELD)
  return { ...receipt, superseded: past, left, unverifiable, remains: ['user_id'] }
}

const REMARK = [
  'The user_id remains: the service has no call that deletes a user.',
  `No GET shows ${UNVERIFIABLE_FIELD}: rollcall cannot verify that it was cleared.`,
  'If the row comes back, rollcall sends its values: see `rollcall explain KEY`.',
]

export function renderErasures(receipts: readonly Receipt[], keys: readonly CustomerKey[]): string[] {
  if (receipts.length === 0 && keys.length === 0) return ['nothing was erased yet']
  const without = keys.filter((key) => !receipts.some((receipt) => receipt.key === key))
  return [
    ...receipts.flatMap(renderReceipt),
    ...without.map((key) => `nothing was erased for customer ${shown(key)}`),
    ...(receipts.length > 0 ? REMARK : []),
  ]
}

function renderReceipt(receipt: Receipt): string[] {
  const { key, userId, erasedAt, fields } = receipt
  return [
    `customer ${shown(key)}`,
    ...details({
      user: userId,
      erased: `${second(erasedAt)} UTC (acknowledged by the service)`,
      cleared: fields.join(', '),
      verified: renderVerification(receipt),
    }),
    '',
  ]
}

function renderVerification({ verifiedAt, past, left }: Receipt): string {
  if (verifiedAt !== null && left?.length)
    return `no: the next GET (${second(verifiedAt)} UTC) still showed ${left.join(', ')}`
  if (verifiedAt !== null) return `${second(verifiedAt)} UTC: the next GET showed no value`
  return past
    ? 'no: before the next GET, the row was inserted again, or another erasure followed'
    : 'not verified yet'
}
