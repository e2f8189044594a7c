// Asks for each customer what it takes to compare: one GET, in the common pace, and reads. Nothing is written.
import { type Evidence, gather } from '../access/customer.ts'
import { openParts, type PartsOptions } from '../access/open.ts'
import type { CustomersShape } from '../customers/describe.ts'
import type { CustomerKey } from '../model/customer.ts'
import { type Diff, diffUser } from './diff.ts'
import type { Row } from './rows.ts'

/** What stands in a row and in the GET, as it is; null for none. */
export type Values = ReadonlyMap<Row['field'], { readonly here: unknown; readonly service: unknown }>

export type Compared = { readonly diff: Diff; readonly values: Values }

export type OpenDiff = {
  readonly shape: CustomersShape
  readonly warnings: readonly string[]
  /** Each customer once, in order. */
  ask(keys: readonly CustomerKey[]): AsyncIterable<Compared>
  close(): Promise<void>
}

/** Throws a RollcallError when the customers cannot be read; everything else that is missing is part of the answer. */
export async function openDiff(options: PartsOptions): Promise<OpenDiff> {
  const { parts, shape, warnings, close } = await openParts(options)
  const { consistencyDelayMs } = options.config.timing

  async function* ask(keys: readonly CustomerKey[]): AsyncGenerator<Compared> {
    for (const key of new Set(keys)) {
      const gathered = await gather(key, parts)
      const diff = diffUser(gathered, consistencyDelayMs)
      yield { diff, values: valuesOf(diff, gathered.evidence) }
    }
  }
  return { shape, warnings, ask, close }
}

type ByField = Readonly<Partial<Record<Row['field'], unknown>>>

function valuesOf({ rows }: Diff, { mapped, seen }: Evidence): Values {
  if (seen === undefined || seen === 'absent') return new Map()
  const desired: ByField =
    mapped.kind === 'user' ? { ...mapped.user.fields, status: mapped.user.status } : { status: 0 }
  const remote: ByField = { ...seen.fields, status: seen.status }
  return new Map(
    rows.map(({ field }) => [field, { here: desired[field] ?? null, service: remote[field] ?? null }]),
  )
}
