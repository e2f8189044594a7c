import type { ClientBase } from 'pg'
import { type Announced, announceCreates } from '../brake/announce.ts'
import { limitOf } from '../brake/brake.ts'
import { type Outlook, outlookOf } from '../brake/outlook.ts'
import type { Config } from '../config/config.ts'
import { acceptTarget } from '../ledger/accept.ts'
import type { Target } from '../ledger/target.ts'
import type { NamedService } from '../model/service.ts'
import { readPace } from '../pace/read.ts'
import { namedService } from '../service/target.ts'

export type Accepting = {
  readonly as: 'same' | 'new'
  readonly config: Config
  /** Registrations to announce. */
  readonly expectCreates: number | null
  readonly target: Target
}

export type Accepted = {
  readonly as: 'same' | 'new'
  readonly target: NamedService
  /** Null where all records are kept. */
  readonly follows: Follows | null
}

/** What workers will do, as far as it can be told before the service is asked. */
export type Follows = {
  /** They are looked up. */
  readonly customers: number
  /** Calls per second now. */
  readonly rate: number
  /** For the lookups; creates and updates may take as long again. */
  readonly seconds: number
  readonly creates: Pick<Outlook, 'through' | 'held'> & {
    /** Of the brake, besides those announced. */
    readonly limit: number
    readonly windowHours: number
    readonly announced: Announced | null
  }
}

/** The operator has said what a changed target is; the calls are the workers'. */
export async function accept(client: ClientBase, accepting: Accepting): Promise<Accepted> {
  const { as, config, expectCreates, target } = accepting
  const customers = await acceptTarget(client, target, as)
  const accepted = { as, target: namedService(target.origin, config) }
  if (as === 'same') return { ...accepted, follows: null }
  const { windowHours } = config.brake
  const announced =
    expectCreates === null
      ? null
      : await announceCreates(client, { customers: expectCreates, windowHours, sweep: null })
  const rate = (await readPace(client))?.rate ?? config.pace.ceiling
  const creates = { ...createsOf(accepting, customers), windowHours, announced }
  return { ...accepted, follows: { customers, rate, seconds: Math.ceil(customers / rate), creates } }
}

/** Where the service knows none of them. Nobody counts as registered any more, and nothing was let through yet. */
function createsOf({ config, expectCreates }: Accepting, customers: number) {
  const bases = { entitled: 0, present: 0 }
  const [outlook] = outlookOf({
    ...{ customers: { create: customers }, standings: [], bases, rules: config.brake },
    ...{ expectCreates, truncated: false },
  })
  const { through = 0, held = 0 } = outlook ?? {}
  return { through, held, limit: limitOf(config.brake.creates, 0) }
}
