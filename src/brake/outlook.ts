import type { Config } from '../config/config.ts'
import { type Bases, baseOf } from './base.ts'
import { type BrakeKind, limitOf, ruleOf } from './brake.ts'
import { BY_TRUNCATE } from './decide.ts'
import type { KindStanding } from './standing.ts'

/** What becomes of so many customers whom the brake counts under a kind. */
export type Outlook = {
  readonly kind: BrakeKind
  readonly customers: number
  readonly through: number
  readonly held: number
  /** It holds everybody already, because it has tripped or a watched table was truncated. */
  readonly tripped: boolean
}

type Asking = {
  readonly customers: Readonly<Partial<Record<BrakeKind, number>>>
  readonly standings: readonly KindStanding[]
  readonly bases: Bases
  readonly rules: Config['brake']
  /** Registrations that are announced now; null: what was announced before stands. */
  readonly expectCreates: number | null
  /** A watched table was truncated, and nobody has said what that means. */
  readonly truncated: boolean
}

/** In the order of how many are held. */
export function outlookOf(asking: Asking): readonly Outlook[] {
  const { customers, standings, bases, rules, expectCreates, truncated } = asking
  const entries = Object.entries(customers) as [BrakeKind, number][]
  return entries
    .map(([kind, count]): Outlook => {
      const found = standings.find((each) => each.kind === kind)
      const { taken, expected } = found ?? { taken: 0, expected: 0 }
      const tripped = found?.tripped === true || (truncated && BY_TRUNCATE.includes(kind))
      const announced = kind === 'create' && expectCreates !== null ? expectCreates : expected
      const room = roomFor({ kind, count: Math.max(0, count - announced), taken, bases, rules })
      const through = tripped ? 0 : Math.min(count, announced + room)
      return { kind, customers: count, through, held: count - through, tripped }
    })
    .toSorted((a, b) => b.held - a.held || b.customers - a.customers)
}

type Room = Pick<Asking, 'bases' | 'rules'> & {
  readonly kind: BrakeKind
  readonly count: number
  readonly taken: number
}

/** Each registration is one more of whom a share may be registered, so that the limit moves ahead of them. */
function roomFor({ kind, count, taken, bases, rules }: Room): number {
  const base = baseOf(kind, bases)
  let room = 0
  for (;;) {
    const grown = kind === 'create' ? base + room : base
    const next = Math.min(count, Math.max(0, limitOf(ruleOf(kind, rules), grown) - taken))
    if (next <= room) return room
    room = next
  }
}
