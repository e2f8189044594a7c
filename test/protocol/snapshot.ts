import { type Desired, desire, type Known, validUntil } from './plan.ts'
import type { World } from './world.ts'

export type Snapshot = {
  readonly desired: Desired
  readonly replanAt: number | null
  readonly known: Known
  readonly acknowledgedAt: number
}

export function snapshot(w: World, key: number): Snapshot {
  const row = w.rows[key]
  const ledger = w.ledger[key]
  if (row === undefined || ledger === undefined) throw new Error(`no customer ${key}`)
  const { known, acknowledgedAt } = ledger
  return { desired: desire(row, w.now), replanAt: validUntil(row, w.now), known, acknowledgedAt }
}
