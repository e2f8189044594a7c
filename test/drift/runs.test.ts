// How a run drives its batches: one is read and stored during the GETs of another one. On a pool that answers nothing.
import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { doneOf, NOTHING_YET } from '../../src/drift/agenda.ts'
import type { Next } from '../../src/drift/all-customers.ts'
import { type DriftRun, driveRun } from '../../src/drift/runs.ts'
import type { Checked } from '../../src/drift/words.ts'
import type { CustomerKey } from '../../src/model/customer.ts'

const KEYS = Array.from({ length: 10 }, (_, n) => `k${n}`)
const START: DriftRun = {
  ...{ id: '1', seed: '0', startedAt: '2026-01-01T00:00:00Z', population: KEYS.length },
  ...{ place: { part: 'drawn', rank: null }, agenda: NOTHING_YET },
}

/** Drives a run over batches of two. `end` ends the oldest check; the places and customers that were kept are in `kept`. */
function drive({ signal = new AbortController().signal } = {}) {
  const underWay: { readonly keys: readonly CustomerKey[]; readonly end: (error?: Error) => void }[] = []
  const kept: { readonly taken: number; readonly known: number }[] = []
  async function query(_: string, values: readonly unknown[] = []) {
    const [, cursor, tally] = values
    if (typeof cursor === 'string' && typeof tally === 'string') {
      const { place, waiting, suspects } = JSON.parse(cursor)
      const known = waiting.length + doneOf({ tally: JSON.parse(tally), suspects })
      kept.push({ taken: Number(place.rank), known })
    }
    return { rows: [], rowCount: 1 }
  }
  async function* allCustomers(): AsyncGenerator<Next> {
    for (const [n, key] of KEYS.entries()) yield { key, place: { part: 'drawn', rank: `${n + 1}` } }
  }
  let nowMs = 0
  const done = driveRun({
    ...{ pool: { query } as unknown as Pool, fingerprint: 'f', run: START, allCustomers, signal },
    gate: {
      room: async () => (signal.aborted ? { kind: 'stopped', why: 'asked' } : 2),
      spend: () => undefined,
      giveBack: () => undefined,
    },
    check: (keys) =>
      new Promise((resolve, reject) => {
        const none = { findingState: null, findingId: null, resolved: null, nextInMs: null, shown: [] }
        const rest = { ...none, more: false, repairable: false, repairing: false }
        const checked = keys.map((key): Checked => ({ key, verdict: { kind: 'agrees' }, ...rest }))
        const end = (error?: Error) => {
          // Each state that can be kept is kept.
          nowMs += 2000
          return error ? reject(error) : resolve({ checked, stopped: null })
        }
        underWay.push({ keys, end })
      }),
    sample: async () => null,
    ...{ onChecks: () => undefined, onKept: () => undefined, sleep: async () => undefined },
    now: () => nowMs,
  })
  return { done, underWay, kept }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))

test('two batches are under way at once, with different customers; each counts once, and what is kept lacks none', async () => {
  const { done, underWay, kept } = drive()
  const all: CustomerKey[] = []
  for (await settle(); underWay.length > 0; await settle()) {
    expect(underWay.length).toBe(all.length < KEYS.length - 2 ? 2 : 1)
    const [oldest] = underWay.splice(0, 1)
    all.push(...(oldest?.keys ?? []))
    oldest?.end()
  }
  const { run, end } = await done
  expect([end.kind, all, run.agenda.tally.checked]).toEqual(['complete', KEYS, KEYS.length])
  expect(kept.length).toBeGreaterThan(4)
  expect(kept.filter(({ taken, known }) => taken !== known)).toEqual([])
})

test.each([
  ['stops', undefined, { end: { kind: 'stopped' }, run: { agenda: { tally: { checked: 4 } } } }],
  ['fails', new Error('Postgres is gone'), { message: 'Postgres is gone' }],
])('a run that %s lets the checks under way end first', async (_, error, result) => {
  const stop = new AbortController()
  const { done, underWay } = drive({ signal: stop.signal })
  let over = false
  const ended = done.catch((thrown) => thrown).finally(() => (over = true))
  await settle()
  if (!error) stop.abort()
  underWay[0]?.end(error)
  await settle()
  expect([underWay.length, over]).toEqual([2, false])
  underWay[1]?.end()
  expect(await ended).toMatchObject(result)
})
