// The processes besides the workers: drain, dispatch, replan, sweep, verification, and a person who releases.
import { isUnderWay, leasable, lease, note, noteSwept, noteVerification, release, unlease } from './owed.ts'
import { desire, planFor } from './plan.ts'
import { type Actor, type Job, pause, type Steps, statementTime, type World } from './world.ts'

const LANES = [0, 1, 2, 3] as const

/** Deletes outbox rows and notes their keys, in one transaction. */
export function* drain(w: World, self: Actor): Steps {
  const at = w.now
  const limit = 1 + w.random.int(4)
  const readable = w.outbox.filter((row) => row.visible && (row.lockedBy === null || row.lockedBy.dead))
  const rows = readable
    .filter((row) => w.guards.outboxByDelete || row.id > w.outboxCursor)
    .sort((a, b) => a.id - b.id)
    .slice(0, limit)
  for (const row of rows) row.lockedBy = self
  yield* pause(w, self, 'drained')
  const remove = () => {
    w.outboxCursor = Math.max(w.outboxCursor, ...rows.map((row) => row.id))
    const past = (id: number) => !w.guards.outboxByDelete && id <= w.outboxCursor
    w.outbox = w.outbox.filter((row) => !(rows.includes(row) || (row.visible && past(row.id))))
  }
  if (!w.guards.noteInDrainTransaction) {
    remove()
    yield* pause(w, self, 'drained')
  }
  for (const key of new Set(rows.map((row) => row.key))) {
    const lane = Math.min(...rows.filter((row) => row.key === key).map((row) => row.lane))
    const row = note(w.owed[key] ?? null, { lane, at }, w.guards)
    w.owed[key] = row
    w.history?.say(key, `${self.name} notes version ${row.changeVersion}, due ${row.dueAt}`)
  }
  remove()
}

/** Leases due rows, lane by lane, and after the commit puts the jobs on the queue. */
export function* dispatch(w: World, self: Actor): Steps {
  for (const lane of LANES) {
    if (!w.owed.some((row) => leasable(row, lane, w.now))) continue
    const since = w.now
    yield* pause(w, self, 'leased')
    const at = statementTime(w, since)
    const jobs: Job[] = []
    for (const [key, row] of w.owed.entries()) {
      if (!leasable(row, lane, at)) continue
      const crashed = row.callToken !== null
      lease(row, { token: w.nextToken++, at, until: at + w.scene.queueLease }, w.guards)
      jobs.push({ key, token: row.token ?? 0 })
      w.history?.say(
        key,
        `${self.name} leases with token ${row.token} until t=${row.dueAt}` +
          `${crashed ? ', finds an open call mark' : ''}`,
      )
    }
    if (jobs.length === 0) continue
    yield* pause(w, self, 'leased')
    w.queue.push(...jobs)
    w.recent = [...jobs, ...w.recent].slice(0, 6)
    if (w.calm || !w.random.chance(w.scene.lostReplies)) continue
    yield* pause(w, self, 'leased')
    for (const { key, token } of jobs) {
      const row = w.owed[key]
      if (row) unlease(row, { token, at: w.now }, w.guards)
      w.history?.say(
        key,
        `${self.name} got no reply from the queue and takes back the lease with token ${token}`,
      )
    }
  }
}

/** Notes customers whose mapping's answer has ended to hold; under a claim it waits for its end. */
export function* replan(w: World, self: Actor): Steps {
  const at = w.now
  yield
  for (const [key, row] of w.owed.entries()) {
    if (row === null || row.replanAt === null || row.replanAt > at || isUnderWay(row)) continue
    row.replanAt = null
    if (!w.guards.replanNotedWithClear) yield
    note(row, { lane: 1, at }, w.guards)
    w.history?.say(key, `${self.name} notes version ${row.changeVersion}: the mapping's answer has run out`)
  }
}

/** Owes a lookup to customers whose next verification has come. */
export function* recheck(w: World, self: Actor): Steps {
  const at = w.now
  yield
  for (const [key, row] of w.owed.entries()) {
    if (row === null || row.verifyLeft === 0 || row.verifyAt === null || row.verifyAt > at || isUnderWay(row))
      continue
    noteVerification(row, at)
    w.history?.say(key, `${self.name} owes another lookup, version ${row.changeVersion}`)
  }
}

/** Plans without HTTP and owes what differs or is unknown. */
export function* sweep(w: World, self: Actor): Steps {
  for (let key = 0; key < w.scene.customers; key++) {
    const row = w.rows[key]
    const ledger = w.ledger[key]
    if (row === undefined || ledger === undefined) continue
    const desired = desire(row, w.now)
    const differs = planFor(desired, ledger.known, w.owed[key]?.unknown ?? false).kind !== 'none'
    const since = w.now
    yield* pause(w, self, 'answered')
    if (!differs && !w.random.chance(0.2)) continue
    w.owed[key] = noteSwept(w.owed[key] ?? null, { lane: 3, at: statementTime(w, since) }, w.guards)
    w.history?.say(key, `${self.name} owes version ${w.owed[key]?.changeVersion}, due ${w.owed[key]?.dueAt}`)
  }
}

/** Held, or refused by the service: a person must act. A customer that the mapping rejects waits for another change. */
export function paused(w: World, key: number): boolean {
  const ledger = w.ledger[key]
  if (ledger === undefined || w.owed[key]?.dueAt !== null) return false
  return ledger.state === 'held' || (ledger.state === 'rejected' && !ledger.invalid)
}

/** A person looks up a paused customer and lets it go on, perhaps much later. */
export function* operate(w: World, self: Actor, key: number): Steps {
  if (!paused(w, key)) return
  const version = w.owed[key]?.changeVersion ?? 0
  const since = w.now
  yield* pause(w, self, 'decided')
  const row = w.owed[key]
  if (row === null || row === undefined) return
  const approved = release(row, { version, at: statementTime(w, since) }, w.guards)
  if (approved !== null) w.approved[key] = approved
  w.history?.say(
    key,
    `${self.name} releases version ${version}: ` +
      `${approved === null ? 'no longer so' : `version ${approved}, due ${row.dueAt}`}`,
  )
}
