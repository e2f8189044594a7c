import { createHash, createHmac } from 'node:crypto'
import { type Client, oneRow } from '../database/client.ts'
import { RollcallError } from '../model/errors.ts'
import { CURRENT_FINGERPRINT } from './generation.ts'
import { BOUND_AT } from './watermark.ts'

/** The service that a ledger is about: its origin, its key, and the key that digests are made with. */
export type Target = { readonly origin: string; readonly apiKey: string; readonly digestKey: string }

/** As far as a command knows it; what is not known is not compared. */
export type PartialTarget = { readonly [K in keyof Target]?: Target[K] | undefined }

/** Which database a session is in; null: its role may not ask. */
export type DatabaseIdentity = {
  readonly systemIdentifier: string | null
  readonly timeline: number | null
  readonly databaseOid: string
}

/** The service and the database of the present; null: not known. */
type BindingFacts = DatabaseIdentity & { readonly origin: string | null; readonly apiKeyMac: string | null }

/** `rewritten`: the row was not written by the transaction that it names, so a logical restore has written it. */
type Bound = BindingFacts & { readonly rewritten: boolean }

/** Names one binding: the transaction that wrote the row. `migrate --target` makes another, and so does a logical restore. */
export type Binding = string

/** The target that a process calls, and its mapping. Once another of the two is active, the process leases and claims nothing. */
export type BoundTo = { readonly binding: Binding; readonly fingerprint: string }

/** A guard for statements of a process, with the names of parameters. */
export const isCurrent = ({ binding, fingerprint }: BoundTo) =>
  `(${CURRENT_FINGERPRINT} = ${fingerprint} AND EXISTS (SELECT FROM rollcall.target WHERE xmin::text = ${binding}))`

const BOUND = `
SELECT origin, api_key_mac AS "apiKeyMac", system_identifier AS "systemIdentifier", timeline,
  database_oid::text AS "databaseOid", xmin::text AS binding, (bound_by & 4294967295)::text <> xmin::text AS rewritten
FROM rollcall.target`

/**
 * The first binding has no time: only a decision makes a later one. A backup of before it that is put back would else pass
 * for a new beginning, where the witness (watermark.ts) remembers more.
 */
const BIND = `
INSERT INTO rollcall.target (id, origin, api_key_mac, system_identifier, timeline, database_oid, bound_at)
VALUES (1, $1, $2, $3, $4, $5, 'epoch')`

/**
 * Binds a fresh ledger to the present service and database, and refuses others: a copy of production's ledger that calls
 * production's service, or a ledger about the demo service on production, would shut people out.
 */
export async function bindTarget(client: Client, target: Target): Promise<Binding> {
  const now = await present(client, target)
  await client.query(`${BIND} ON CONFLICT (id) DO NOTHING`, values(now))
  const { binding, ...bound } = await oneRow<Bound & { binding: Binding }>(client, BOUND)
  const differences = differencesOf(bound, now)
  if (differences.length > 0) throw targetChanged(differences)
  return binding
}

/** Watermarks are ordered by the time of their binding (watermark.ts), also where the clock was ahead when the last one was made. */
const LATER = `
UPDATE rollcall.target SET bound_at = greatest(now(), $1::timestamptz + interval '1 microsecond')`

/** In place of the binding that there is, in the transaction of the caller. */
export async function bindAnew(client: Client, target: Target): Promise<void> {
  const { rows } = await client.query<{ before: string }>(
    'DELETE FROM rollcall.target RETURNING bound_at::text AS before',
  )
  await client.query(BIND, values(await present(client, target)))
  await client.query(LATER, [rows[0]?.before ?? null])
}

/** Every process refuses the binding of this time from now on, as after a logical restore. A later binding stands. */
export async function voidBinding(client: Client, boundAt: string): Promise<void> {
  await client.query(`UPDATE rollcall.target SET bound_by = bound_by WHERE ${BOUND_AT} = $1`, [boundAt])
}

export async function readBinding(client: Client): Promise<Binding | null> {
  const present = 'SELECT xmin::text AS binding FROM rollcall.target'
  return (await client.query<{ binding: Binding }>(present)).rows[0]?.binding ?? null
}

/** The service that the ledger is about; null when it was never bound. */
export async function boundOrigin(client: Client): Promise<string | null> {
  const { rows } = await client.query<{ origin: string }>('SELECT origin FROM rollcall.target')
  return rows[0]?.origin ?? null
}

/** For commands that only look: nothing is bound by this, and an unbound ledger differs in nothing. */
export async function differencesFromBinding(
  client: Client,
  target: PartialTarget,
): Promise<readonly TargetDifference[]> {
  const [bound] = (await client.query<Bound>(BOUND)).rows
  return bound ? differencesOf(bound, await present(client, target)) : []
}

/** For commands that act by it; see `differencesFromBinding`. @throws RollcallError TARGET_CHANGED */
export async function requireTarget(client: Client, target: PartialTarget): Promise<void> {
  const differences = await differencesFromBinding(client, target)
  if (differences.length > 0) throw targetChanged(differences)
}

/** `behind`: the queue remembers more than the database; see worker/witness.ts. */
export type DifferenceKind = 'service' | 'database' | 'restored' | 'behind' | 'timeline' | 'key'

/** `says`: for a person, without a key. */
export type TargetDifference = { readonly kind: DifferenceKind; readonly says: string }

/** Facts that are not known, or that the role may not read, are not compared. */
export function differencesOf(bound: Bound, now: BindingFacts): readonly TargetDifference[] {
  const elsewhere = isAnotherDatabase({ ...bound, timeline: null }, now)
  const compared: readonly (readonly [boolean, DifferenceKind, string])[] = [
    [
      differ(bound.origin, now.origin),
      'service',
      `SERVICE_URL was ${bound.origin} before, and is now ${now.origin}`,
    ],
    [differ(bound.apiKeyMac, now.apiKeyMac), 'key', 'SERVICE_API_KEY or ROLLCALL_DIGEST_KEY has changed'],
    [elsewhere, 'database', 'the database was restored, copied, moved or upgraded'],
    [!elsewhere && bound.rewritten, 'restored', "a backup was restored over rollcall's tables"],
    [
      !elsewhere && differ(bound.timeline, now.timeline),
      'timeline',
      'the database server was promoted, or restored to a point in time',
    ],
  ]
  return compared.flatMap(([differs, kind, says]) => (differs ? [{ kind, says }] : []))
}

/** Another server or database, or the same one on another timeline. */
export function isAnotherDatabase(one: DatabaseIdentity, other: DatabaseIdentity): boolean {
  return (
    differ(one.systemIdentifier, other.systemIdentifier) ||
    one.databaseOid !== other.databaseOid ||
    differ(one.timeline, other.timeline)
  )
}

function differ<T>(bound: T | null, now: T | null): boolean {
  return bound !== null && now !== null && bound !== now
}

const NEW = '`rollcall migrate --target new`'
const SAME = '`rollcall migrate --target same`'
const BACK = `Run ${NEW}: the service may have received changes that this database does not know, so every customer is looked up.`

/** The likeliest remedy first. The first of several differences in this order decides. */
const REMEDIES: Readonly<Record<DifferenceKind, string>> = {
  service: `If SERVICE_URL is wrong, correct it. If it names another service, run ${NEW}. If the same service has moved, run ${SAME}.`,
  database: `If this is a copy for tests, set SERVICE_URL and the keys of a test service, then run ${NEW}. If the database was moved or upgraded and lost nothing, run ${SAME}. If it comes from a backup, run ${NEW}.`,
  restored: BACK,
  behind: BACK,
  timeline: `If a standby was promoted and lost nothing, run ${SAME}. After a recovery to a point in time, run ${NEW}.`,
  key: `If SERVICE_API_KEY or ROLLCALL_DIGEST_KEY is wrong, correct it. If it was rotated, run ${SAME}.`,
}

/** Says what to do; null where nothing differs. */
export function remedyFor(differences: readonly TargetDifference[]): string | null {
  const first = Object.entries(REMEDIES).find(([kind]) => differences.some((each) => each.kind === kind))
  return first ? `${first[1]} docs/restoring.md says more.` : null
}

export function targetChanged(differences: readonly TargetDifference[]): RollcallError {
  const todo = remedyFor(differences)
  return new RollcallError(
    'TARGET_CHANGED',
    differences.map(({ says }) => says),
    todo === null ? {} : { todo },
  )
}

/** A short name for this installation, so that two of them can share a queue server; as this role finds it. */
export async function installationName(client: Client, role?: string): Promise<string> {
  const { systemIdentifier, databaseOid } = await readIdentity(client, role)
  const { name } = await oneRow<{ name: string }>(client, 'SELECT current_database() AS name')
  const text = [systemIdentifier ?? '', databaseOid, name].join('/')
  return `sync-${createHash('sha256').update(text).digest('hex').slice(0, 12)}`
}

async function present(client: Client, { origin, apiKey, digestKey }: PartialTarget): Promise<BindingFacts> {
  const apiKeyMac =
    apiKey === undefined || digestKey === undefined
      ? null
      : createHmac('sha256', digestKey).update(`api key\0${apiKey}`).digest('base64url')
  return { origin: origin ?? null, apiKeyMac, ...(await readIdentity(client)) }
}

const SYSTEM = 'SELECT system_identifier::text AS id FROM pg_control_system()'

/** In the name of the file that is written now: the control file shows it only after the next checkpoint. */
const TIMELINE = `
SELECT ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int AS timeline`

/** As this role finds it; default: whose session it is. */
export async function readIdentity(client: Client, role: string | null = null): Promise<DatabaseIdentity> {
  const may = await oneRow<{ oid: string; system: boolean; wal: boolean }>(
    client,
    `SELECT d.oid::text,
       has_function_privilege(r.name, 'pg_catalog.pg_control_system()', 'EXECUTE') AS system,
       has_function_privilege(r.name, 'pg_catalog.pg_current_wal_lsn()', 'EXECUTE')
         AND has_function_privilege(r.name, 'pg_catalog.pg_walfile_name(pg_lsn)', 'EXECUTE')
         AND NOT pg_is_in_recovery() AS wal
     FROM pg_database d, (SELECT coalesce($1, current_user) AS name) r WHERE datname = current_database()`,
    [role],
  )
  const system = may.system ? await oneRow<{ id: string }>(client, SYSTEM) : null
  const wal = may.wal ? await oneRow<{ timeline: number }>(client, TIMELINE) : null
  return { systemIdentifier: system?.id ?? null, timeline: wal?.timeline ?? null, databaseOid: may.oid }
}

function values(bound: BindingFacts): unknown[] {
  return [bound.origin, bound.apiKeyMac, bound.systemIdentifier, bound.timeline, bound.databaseOid]
}
