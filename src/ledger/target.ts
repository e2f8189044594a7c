import { createHash, createHmac } from 'node:crypto'
import type { ClientBase } from 'pg'
import { RollcallError } from '../model/errors.ts'

/** The service that a ledger is about: origin and key, and the database that the ledger stands in. */
export type Target = { readonly origin: string; readonly apiKey: string; readonly digestKey: string }

type Bound = {
  readonly origin: string
  readonly apiKeyMac: string
  readonly systemIdentifier: string | null
  readonly timeline: number | null
  readonly databaseOid: string
}

/** Names one binding: a later `migrate --target` makes another. */
export type Binding = string

type Client = Pick<ClientBase, 'query'>

const BOUND = `
SELECT origin, api_key_mac AS "apiKeyMac", system_identifier AS "systemIdentifier", timeline,
  database_oid::text AS "databaseOid", bound_at::text AS "boundAt" FROM rollcall.target`

const BIND = `
INSERT INTO rollcall.target (id, origin, api_key_mac, system_identifier, timeline, database_oid)
VALUES (1, $1, $2, $3, $4, $5)`

/**
 * Binds a fresh ledger to the present service and database, and refuses when they are not the ones it is
 * bound to: a copy of production's ledger that calls production's service, or a ledger about the demo service
 * that is believed on production, would shut people out.
 */
export async function bindTarget(client: Client, target: Target): Promise<Binding> {
  const now = await present(client, target)
  await client.query(`${BIND} ON CONFLICT (id) DO NOTHING`, values(now))
  const { rows } = await client.query<Bound & { boundAt: Binding }>(BOUND)
  const differences = rows[0] ? differencesOf(rows[0], now) : []
  if (differences.length > 0) throw new RollcallError('TARGET_CHANGED', differences)
  return rows[0]?.boundAt ?? ''
}

/** The present binding; null when there is none. */
export async function readBinding(client: Client): Promise<Binding | null> {
  const { rows } = await client.query<{ boundAt: Binding }>(
    'SELECT bound_at::text AS "boundAt" FROM rollcall.target',
  )
  return rows[0]?.boundAt ?? null
}

/** The service that the ledger is about; null when it was never bound. */
export async function boundOrigin(client: Client): Promise<string | null> {
  const { rows } = await client.query<{ origin: string }>('SELECT origin FROM rollcall.target')
  return rows[0]?.origin ?? null
}

/**
 * What differs from the binding, for those who only look: nothing is bound, and an unbound ledger differs in
 * nothing. Without the digest key the Api-Key cannot be compared.
 */
export async function differencesFromBinding(
  client: Client,
  { origin, apiKey, digestKey }: Omit<Target, 'digestKey'> & { readonly digestKey: string | undefined },
): Promise<string[]> {
  const { rows } = await client.query<Bound>(BOUND)
  const [bound] = rows
  if (!bound) return []
  const now = await present(client, { origin, apiKey, digestKey: digestKey ?? '' })
  return differencesOf(bound, digestKey === undefined ? { ...now, apiKeyMac: bound.apiKeyMac } : now)
}

/** What differs, in words that hold no key. Facts that the role may not read are not compared. */
export function differencesOf(bound: Bound, now: Bound): string[] {
  const differences: string[] = []
  if (bound.origin !== now.origin) differences.push(`SERVICE_URL was ${bound.origin}, is ${now.origin}`)
  if (bound.apiKeyMac !== now.apiKeyMac)
    differences.push('SERVICE_API_KEY (or ROLLCALL_DIGEST_KEY) is another')
  if (differ(bound.systemIdentifier, now.systemIdentifier) || bound.databaseOid !== now.databaseOid) {
    differences.push('the database is another one: restored, copied or moved')
  } else if (differ(bound.timeline, now.timeline)) {
    differences.push('the database server was promoted or restored to a point in time')
  }
  return differences
}

function differ<T>(bound: T | null, now: T | null): boolean {
  return bound !== null && now !== null && bound !== now
}

/** The operator's word: `same` rebinds; `new` also forgets what is known of every user and looks at all again. */
export async function acceptTarget(client: Client, target: Target, as: 'same' | 'new'): Promise<void> {
  await client.query('BEGIN')
  try {
    await client.query('DELETE FROM rollcall.target')
    await client.query(BIND, values(await present(client, target)))
    if (as === 'new') for (const statement of FORGET) await client.query(statement)
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined)
    throw error
  }
}

const FORGET = [
  `UPDATE rollcall.owed SET change_version = change_version + 1, suspect_version = change_version + 1,
     unknown = true, blind = true, lane = CASE WHEN due_at IS NULL THEN 3 ELSE lane END,
     due_at = CASE WHEN token IS NULL THEN least(due_at, greatest(now(), not_before)) ELSE due_at END`,
  `UPDATE rollcall.ledger SET remote = 'unknown', sent_status = NULL, seen_status = NULL, sent = '{}', seen = '{}',
     refused = '{}', state = CASE WHEN state = 'rejected' THEN state ELSE 'idle' END, erased = NULL, verified_at = NULL,
     proved_at = NULL, looked_at = NULL, normalised = '{}'`,
  // What was done to the users of another service is no part of a mass at this one, nor what was found there.
  'DELETE FROM rollcall.brake',
  `UPDATE rollcall.finding SET resolved_at = clock_timestamp(), resolved_how = 'gone', next_look_at = NULL
   WHERE resolved_at IS NULL`,
  'DELETE FROM rollcall.drift_share',
  `UPDATE rollcall.drift_run SET ended_at = clock_timestamp(), outcome = 'stopped' WHERE ended_at IS NULL`,
  'DELETE FROM rollcall.brake_entry',
  'UPDATE rollcall.decided SET spent_at = clock_timestamp() WHERE spent_at IS NULL',
]

/**
 * A short name for this installation, so that two of them can share a queue server.
 *
 * @param role as this role finds it, which may not be allowed to see what others may
 */
export async function installationName(client: Client, role?: string): Promise<string> {
  const { systemIdentifier, databaseOid } = await database(client, role)
  const { rows } = await client.query<{ name: string }>('SELECT current_database() AS name')
  const text = [systemIdentifier ?? '', databaseOid, rows[0]?.name ?? ''].join('/')
  return `sync-${createHash('sha256').update(text).digest('hex').slice(0, 12)}`
}

async function present(client: Client, { origin, apiKey, digestKey }: Target): Promise<Bound> {
  const apiKeyMac = createHmac('sha256', digestKey).update(`api key\0${apiKey}`).digest('base64url')
  return { origin, apiKeyMac, ...(await database(client)) }
}

async function database(
  client: Client,
  role: string | null = null,
): Promise<Pick<Bound, 'systemIdentifier' | 'timeline' | 'databaseOid'>> {
  const { rows } = await client.query<{ oid: string; system: boolean; checkpoint: boolean }>(
    `SELECT d.oid::text,
       has_function_privilege(r.name, 'pg_catalog.pg_control_system()', 'EXECUTE') AS system,
       has_function_privilege(r.name, 'pg_catalog.pg_control_checkpoint()', 'EXECUTE') AS checkpoint
     FROM pg_database d, (SELECT coalesce($1, current_user) AS name) r WHERE datname = current_database()`,
    [role],
  )
  const may = rows[0]
  if (!may) throw new Error('the current database is not in pg_database')
  const system = may.system
    ? await first<{ id: string }>(client, 'SELECT system_identifier::text AS id FROM pg_control_system()')
    : null
  const checkpoint = may.checkpoint
    ? await first<{ timeline: number }>(client, 'SELECT timeline_id AS timeline FROM pg_control_checkpoint()')
    : null
  return {
    systemIdentifier: system?.id ?? null,
    timeline: checkpoint?.timeline ?? null,
    databaseOid: may.oid,
  }
}

async function first<T extends object>(client: Client, sql: string): Promise<T | null> {
  const { rows } = await client.query<T>(sql)
  return rows[0] ?? null
}

function values(bound: Bound): unknown[] {
  return [bound.origin, bound.apiKeyMac, bound.systemIdentifier, bound.timeline, bound.databaseOid]
}
