// How every session of ours begins, on the database and on a queue in Postgres, whatever the settings of server, role
// and address; and whether it really began so.
import pg, { type ClientBase } from 'pg'
import { RollcallError } from '../model/errors.ts'
import type { Client } from './client.ts'

/** As `current_setting` prints them. The server takes them with the connection: they hold from its first statement on. */
const SETTINGS = {
  // Names are the system's own: a role that may create functions or operators in `public` could run them as us.
  search_path: 'pg_catalog, pg_temp',
  // A row that a policy hides would read as a customer who is gone; this makes it an error.
  row_security: 'off',
  // Our statements are short and many; compiled, each would take seconds where a plan looks dear.
  jit: 'off',
  // Values are printed in one form; time zone and order of day and month stay the database's, as its views expect.
  intervalstyle: 'postgres',
  extra_float_digits: '1',
  bytea_output: 'hex',
  // The protocol's statements look at what is committed now, and a claim that was answered must survive a crash.
  default_transaction_isolation: 'read committed',
  synchronous_commit: 'on',
} as const

const UNVERIFIED = {
  // A role's own limits are for its application. The pool has one of its own, which comes after these.
  ...{ statement_timeout: '0', lock_timeout: '0' },
  // In seconds: the session of a client whose host has vanished ends, and gives back its locks, within two minutes.
  ...{ tcp_keepalives_idle: '60', tcp_keepalives_interval: '10', tcp_keepalives_count: '6' },
}

type Settings = Readonly<Record<string, string>>

/** BullMQ puts its schema into the path; the system's own names come before it all the same. */
const OF_A_QUEUE: Settings = (({ search_path, ...others }) => others)(SETTINGS)

export type DatabaseAddress = { readonly url: string; readonly variable: string }

export const databaseAt = (url: string): DatabaseAddress => ({ url, variable: 'DATABASE_URL' })

/**
 * The options with which `pg` connects. It lets the `options` of an address replace ours, so they are taken out of it
 * and put before ours.
 */
export function sessionConfig({ url, variable }: DatabaseAddress, purpose: 'database' | 'queue') {
  const settings = purpose === 'queue' ? OF_A_QUEUE : SETTINGS
  const ours = Object.entries({ ...settings, ...UNVERIFIED }).map(
    ([name, value]) => `-c ${name}=${value.replaceAll(' ', '\\ ')}`,
  )
  const address = URL.canParse(url) ? new URL(url) : undefined
  const theirs = address?.searchParams.get('options')
  address?.searchParams.delete('options')
  return {
    connectionString: address && theirs ? address.href : url,
    options: [...(theirs ? [theirs] : []), ...ours].join(' '),
    /** An option of `pg.Pool`: called once for each new connection. */
    verify: (client: ClientBase, done: (error?: Error) => void) => {
      verifySession(client, variable, settings).then(() => done(), done)
    },
  }
}

/**
 * One connection outside a pool, with `config` beside what every session has.
 *
 * @throws RollcallError DATABASE_STANDBY, SESSION_UNFIT; else as `pg` does
 */
export async function connectOne(address: DatabaseAddress, config: pg.ClientConfig): Promise<pg.Client> {
  const { verify: _, ...session } = sessionConfig(address, 'database')
  const client = new pg.Client({ ...session, ...config })
  client.on('error', () => undefined) // what breaks the connection fails the query that is under way
  try {
    await client.connect()
    await verifySession(client, address.variable)
    return client
  } catch (error) {
    await client.end().catch(() => undefined)
    throw error
  }
}

async function verifySession(client: Client, variable: string, settings: Settings = SETTINGS): Promise<void> {
  const names = Object.keys(settings)
  const asked = names.map((name) => `pg_catalog.current_setting('${name}')`)
  const { rows } = await client.query<string[]>({
    // The style alone: as a startup option it would replace the order, too.
    text: `SELECT pg_catalog.pg_is_in_recovery()::pg_catalog.text, pg_catalog.set_config('datestyle', 'ISO', false), ${asked.join(', ')}`,
    rowMode: 'array',
  })
  const [standby, _style, ...got] = rows[0] ?? []
  if (standby === 'true')
    throw new RollcallError('DATABASE_STANDBY', [`${variable}: the server is in recovery`])
  const lost = names.filter((name, i) => got[i] !== settings[name])
  if (lost.length > 0)
    throw new RollcallError('SESSION_UNFIT', [`${variable}: a session has not got its ${lost.join(', ')}`])
}

/** The role of the statements, for people: `the role app (DATABASE_URL)`. `pg` fills in what an address leaves out. */
export function roleOf({ url, variable }: DatabaseAddress): string {
  const { user } = new pg.Client({ connectionString: url })
  return user ? `the role ${user} (${variable})` : variable
}

/** For `psql` and other clients that run a script of ours; the script ends with UNPINNED. */
export const PINNED = `SET search_path = ${SETTINGS.search_path};`
export const UNPINNED = 'RESET search_path;'
