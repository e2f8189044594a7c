// The integrator's side: customer rows, and transactions that append to the outbox and commit late.
import { put, show } from './service.ts'
import type { World } from './world.ts'

export type Main =
  | { readonly kind: 'user'; readonly value: number; readonly until: number | null }
  | { readonly kind: 'removed' | 'invalid' }

/** A customer as committed. The hidden part stands in a second table, as plans often do. */
export type Row = { readonly main: Main; readonly hidden: number }

type Part = { readonly main: Main } | { readonly hidden: number }

/** Appended when the change was made, readable once its transaction has committed. */
export type OutboxRow = {
  readonly id: number
  readonly key: number
  readonly lane: number
  visible: boolean
  /** The transaction that is deleting the row holds a lock on it. */
  lockedBy: { readonly dead: boolean } | null
}

/** At most one open transaction for each row: row locks see to that. */
export type Transaction = { readonly key: number; readonly part: Part; readonly outbox: OutboxRow }

function drawMain(w: World): Main {
  if (w.random.chance(w.scene.removals)) return { kind: 'removed' }
  if (w.random.chance(0.1)) return { kind: 'invalid' }
  return drawUser(w)
}

function drawUser(w: World): Main {
  const value = w.scene.forgets ? w.nextValue++ : w.random.int(w.scene.values)
  const until = w.scene.expires && w.random.chance(0.4) ? w.now + 1 + w.random.int(20) : null
  return { kind: 'user', value, until }
}

function append(w: World, key: number, part: Part): Transaction {
  const lane = 'main' in part && part.main.kind === 'removed' ? 0 : 1
  const outbox: OutboxRow = { id: w.nextOutboxId++, key, lane, visible: false, lockedBy: null }
  w.outbox.push(outbox)
  return { key, part, outbox }
}

export function change(w: World): void {
  const key = w.random.int(w.scene.customers)
  const part = w.random.chance(0.55) ? { main: drawMain(w) } : { hidden: w.random.int(w.scene.values) }
  if (w.transactions.some((open) => open.key === key && 'main' in open.part === 'main' in part)) return
  const transaction = append(w, key, part)
  w.history?.say(key, `a transaction writes ${JSON.stringify(part)}, outbox row ${transaction.outbox.id}`)
  if (w.random.chance(0.7)) commit(w, transaction)
  else w.transactions.push(transaction)
}

export function commit(w: World, transaction: Transaction): void {
  const { key, part, outbox } = transaction
  const row = w.rows[key]
  if (row === undefined) return
  w.rows[key] = { ...row, ...part }
  outbox.visible = true
  w.transactions = w.transactions.filter((open) => open !== transaction)
  w.history?.say(key, `commits: ${JSON.stringify(w.rows[key])}`)
}

/** Another system changes a user that exists. */
export function edit(w: World): void {
  const key = w.random.int(w.scene.customers)
  const user = w.service.users[key]
  if (!user) return
  const other = w.random.chance(0.5) ? { status: 2 - user.status } : { value: w.random.int(w.scene.values) }
  put(w.service, key, { ...user, ...other }, w.now)
  w.editedAt[key] = w.now
  w.history?.say(key, `somebody else writes ${JSON.stringify(other)}: ${show(w.service.users[key])}`)
}

/** The service loses a user: noticed at the next change only, so the change comes with it. */
export function loseUser(w: World, lose: (key: number) => void): void {
  const key = w.random.int(w.scene.customers)
  if (w.transactions.some((open) => open.key === key && 'main' in open.part)) return
  lose(key)
  const transaction = append(w, key, { main: drawUser(w) })
  w.history?.say(key, 'the service loses the user, and the customer is changed')
  commit(w, transaction)
}
