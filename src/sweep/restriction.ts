import type { Condition } from '../customers/condition.ts'
import type { RunOptions } from '../ledger/runs.ts'
import type { SweepSelection } from './differs.ts'

/** Whom a sweep is for, where it is not for everybody. */
export type Restriction = {
  /** As it is recorded: a later sweep goes on with this one where it is the same. */
  readonly options: RunOptions
  readonly select: Partial<Pick<SweepSelection, 'only' | 'lookup'>>
  readonly conditions: readonly Condition[]
}
