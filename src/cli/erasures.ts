import { type Receipt, readErasures } from '../ledger/erasures.ts'
import type { CustomerKey } from '../model/customer.ts'
import { RollcallError } from '../model/errors.ts'
import { UNVERIFIABLE_FIELD } from '../model/user.ts'
import { withTables } from './connect.ts'
import type { AddCommand } from './io.ts'
import { readLimit } from './option-values.ts'
import { labelled, second, shown, tell, wrapped } from './render.ts'

type Options = { readonly json?: boolean; readonly limit?: string }

const RECEIPTS = 50

const EXAMPLES = `
With onRemove: 'erase', whoever's row is gone first loses access, and then every
optional field at the service is cleared. Each such call that the service
acknowledged is a receipt here. It reads DATABASE_URL alone, and no
configuration.

Examples:
  rollcall erasures                 the last ${RECEIPTS}, the latest first
  rollcall erasures 4711            what was erased of this customer
  rollcall erasures --json --limit 1000`

/** `rollcall erasures`: the receipts of what was erased at the service. */
export const erasuresCommand: AddCommand = (program, io, exit) => {
  program
    .command('erasures')
    .argument('[key...]', 'customers, by their key')
    .description('show what was erased at the service, when, and whether a look has shown it')
    .option('--limit <n>', `at most so many (default: ${RECEIPTS})`)
    .option('--json', 'print it as JSON')
    .addHelpText('after', EXAMPLES)
    .action(async (keys: readonly string[], { json = false, limit }: Options) => {
      const most = limit === undefined ? RECEIPTS : readLimit(limit)
      await withTables(io, async (pool) => {
        const { receipts, unknown } = await readErasures(pool, { keys, limit: most })
        if (unknown.length > 0)
          throw new RollcallError('USAGE', [`nothing is known of customer ${unknown.map(shown).join(', ')}`])
        tell(io, json, receipts.map(asReceipt), () => sayErasures(receipts, keys))
      })
      exit(0)
    })
}

/** What remains by nature: the interface has no call that takes a user away (section 4). */
const REMAINS = 'user_id'

/** A receipt as other programs read it, with what it cannot say. */
function asReceipt({ past, left, ...receipt }: Receipt) {
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
