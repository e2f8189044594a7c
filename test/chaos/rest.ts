// The end of a run: everything works, and whoever was owed something must come to rest.
import { setTimeout as sleep } from 'node:timers/promises'
import { retryKeys } from '../../src/ledger/retry.ts'
import { findWrong } from '../support/random-customers.ts'
import { orAway, type Tell } from './agents.ts'
import { update } from './changes.ts'
import { CHAOS_CONFIG, type Ground } from './ground.ts'
import type { Finding } from './judge.ts'
import type { Plan } from './plan.ts'
import type { Service } from './service.ts'
import { COLUMNS } from './values.ts'

/** A breaker tries again within a minute, and the machine may be slow. */
const REST_MS = 300_000
const POLL_MS = 200
const PROGRESS_MS = 5000

const OPEN = `
SELECT key, state, to_jsonb(o) - 'key' || jsonb_build_object('reason', l.reason) AS work
FROM rollcall.owed o FULL JOIN (SELECT DISTINCT key FROM rollcall.outbox) b USING (key) LEFT JOIN rollcall.ledger l USING (key)
WHERE o.due_at IS NOT NULL OR o.unknown OR b.key IS NOT NULL OR o.verify_left > 0 AND o.check_at <= now()`

/** An answer that says neither yes nor no may have passed for a yes: as if the time for the looks had come. */
const VERIFY_NOW = 'UPDATE rollcall.owed SET check_at = now() WHERE verify_left > 0 AND check_at IS NOT NULL'

type Open = { readonly key: string; readonly state: string | null; readonly work: unknown }

/** Nothing in the outbox, nothing owed, nothing unknown; otherwise what is left. */
async function comeToRest({ pool }: Ground, tell: Tell, signal: AbortSignal): Promise<readonly Finding[]> {
  const end = performance.now() + REST_MS
  let told = performance.now()
  let last: readonly Open[] = []
  while (performance.now() < end) {
    signal.throwIfAborted()
    const open = await orAway(() => pool.query<Open>(OPEN))
    if (open?.rows.length === 0) return []
    last = open?.rows ?? last
    if (performance.now() - told > PROGRESS_MS) {
      told = performance.now()
      tell(`waiting for ${open ? `${last.length} customers` : 'Postgres'}; ${await paceOf(pool)}`)
    }
    await sleep(POLL_MS)
  }
  return last.map(({ key, state, work }) => ({
    key,
    what: `not at rest after ${REST_MS / 1000} s: ${state} ${JSON.stringify(work)}`,
  }))
}

async function paceOf(pool: Ground['pool']): Promise<string> {
  const pace = await orAway(() => pool.query('SELECT to_jsonb(p) AS row FROM rollcall.pace p'))
  return `pace ${JSON.stringify(pace?.rows[0]?.row ?? null)}`
}

type Ending = {
  readonly ground: Ground
  readonly service: Service
  readonly plan: Plan
  readonly tell: Tell
  readonly signal: AbortSignal
}

/**
 * First everybody must be right but for what the ledger says was refused; when somebody has asked for another attempt
 * and the refused have changed, everybody.
 */
export async function settle(
  ending: Ending,
): Promise<{ readonly findings: readonly Finding[]; restAt: number }> {
  const { ground, service, plan, tell, signal } = ending
  const { pool } = ground
  const { keys, values, mending } = plan
  const rest = async () => {
    for (;;) {
      const open = await comeToRest(ground, tell, signal)
      if (open.length > 0 || (await pool.query(VERIFY_NOW)).rowCount === 0) return open
    }
  }
  const wrong = () => findWrong({ pool, keys }, service.held)

  const findings: Finding[] = [...(await rest())]
  const refused = await readRefused(ground)
  const unsaid = (await wrong()).filter(
    ({ key, fields }) => !fields.every((field) => refused.get(key)?.includes(field)),
  )
  findings.push(
    ...unsaid.map(({ key, fields }) => ({ key, what: `wrong in ${fields.join(', ')}, and nothing says so` })),
  )
  tell(`at rest; ${refused.size} customers have something that was refused, and are asked for again`)
  // A change alone would not do: the value that was refused may be drawn once more.
  await retryKeys(pool, [...refused.keys()])
  for (const key of refused.keys()) {
    const { sql, values: given } = update({ values, random: mending }, key, COLUMNS)
    await pool.query(sql, given)
  }
  findings.push(...(await rest()))
  findings.push(
    ...(await wrong()).map(({ key, fields }) => ({ key, what: `stays wrong in ${fields.join(', ')}` })),
  )
  return { findings, restAt: Date.now() }
}

/** Fields that wait because the service refused them, and everything where the whole customer was refused. */
async function readRefused({ pool }: Ground): Promise<ReadonlyMap<string, readonly string[]>> {
  const { rows } = await pool.query<{ key: string; state: string; fields: string[] }>(
    `SELECT key, state, ARRAY(SELECT i->>'field' FROM jsonb_array_elements(issues) i) AS fields FROM rollcall.ledger
     WHERE state <> 'idle' OR issues <> '[]'`,
  )
  const all = ['status', ...Object.keys(CHAOS_CONFIG.mapping)]
  return new Map(rows.map(({ key, state, fields }) => [key, state === 'idle' ? fields : all]))
}
