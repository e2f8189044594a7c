import { readFileSync } from 'node:fs'
import { RollcallError } from '../model/errors.ts'

/** The variables that hold addresses, keys and passwords; each may also be read from the file NAME_FILE. */
export type Variable = keyof typeof VARIABLES

/** `LOG_LEVEL` as pino has them. */
export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export type Env<Need extends Variable, May extends Variable = never> = {
  readonly [V in Need]: string
} & { readonly [V in May]?: string } & { readonly LOG_LEVEL: LogLevel }

type Wanted<Need, May> = {
  /** What the command cannot do without. */
  readonly need: readonly Need[]
  /** What it takes when it is set; then it must be right too. */
  readonly may?: readonly May[]
}

/**
 * Reads the variables that a command needs, and only these. SERVICE_URL comes back as its origin, everything
 * else as it was written. An empty variable counts as one that is not set (compose files produce them).
 *
 * @throws RollcallError ENV_INVALID with one line for each problem, naming the variable and what was expected;
 *   never with what was found, since every one of these may hold a secret
 */
export function readEnv<Need extends Variable, May extends Variable = never>(
  env: NodeJS.ProcessEnv,
  { need, may = [] }: Wanted<Need, May>,
): Env<Need, May> {
  const results = [
    ...need.map((name) => readVariable(env, name, true)),
    ...may.map((name) => readVariable(env, name, false)),
  ]
  const level = env.LOG_LEVEL || 'info'
  const problems = results.flatMap((result) => (result.problem === undefined ? [] : [result.problem]))
  if (!isLogLevel(level)) problems.push(`LOG_LEVEL: expected one of ${LOG_LEVELS.join(', ')}`)
  if (problems.length > 0) throw new RollcallError('ENV_INVALID', problems)
  const read = results.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]]))
  return { ...Object.fromEntries(read), LOG_LEVEL: level } as Env<Need, May>
}

/** `read` gives the value to use, or undefined when it is not what was expected. */
type Rule = { readonly expected: string; readonly read: (text: string) => string | undefined }

const POSTGRES = 'postgres://user:password@host:5432/database, special characters percent-encoded'
const POSTGRES_SCHEMES = ['postgres:', 'postgresql:']

const VARIABLES = {
  DATABASE_URL: { expected: POSTGRES, read: (text) => urlOf(text, POSTGRES_SCHEMES) },
  MIGRATE_DATABASE_URL: { expected: POSTGRES, read: (text) => urlOf(text, POSTGRES_SCHEMES) },
  QUEUE_URL: {
    expected:
      'redis://, rediss://, postgres:// or postgresql:// and an address, special characters percent-encoded',
    read: (text) => urlOf(text, ['redis:', 'rediss:', ...POSTGRES_SCHEMES]),
  },
  SERVICE_URL: {
    expected: 'https:// and the host of the service, alone or with /s2s/v1',
    read: serviceOrigin,
  },
  SERVICE_API_KEY: key('the Api-Key'),
  SERVICE_SECRET_KEY: key('the Secret-Key'),
  SERVICE_ACCESS_TOKEN: {
    expected: "an end user's access token (a JWT) and nothing else",
    read: accessToken,
  },
  ROLLCALL_DIGEST_KEY: {
    expected: 'at least 32 characters of your own; make them with `openssl rand -hex 32`',
    read: (text) => (text.length >= 32 ? text : undefined),
  },
} as const satisfies Record<string, Rule>

function readVariable(
  env: NodeJS.ProcessEnv,
  name: Variable,
  needed: boolean,
): { name: Variable; value?: string; problem?: string } {
  const { expected, read }: Rule = VARIABLES[name]
  const file = env[`${name}_FILE`]
  if (env[name] && file) return { name, problem: `${name}: set both here and by ${name}_FILE; keep one` }
  const text = file ? readText(file) : env[name]
  if (text === undefined && file)
    return { name, problem: `${name}_FILE: there is no such file, or it may not be read` }
  if (!text) return needed || file ? { name, problem: `${name}: missing; expected ${expected}` } : { name }
  const value = read(text)
  return value === undefined ? { name, problem: `${name}: expected ${expected}` } : { name, value }
}

/** Editors and `echo` end a file with a newline that belongs to no key. */
function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '')
  } catch {
    return undefined // why exactly (missing, a folder, no right) is not told apart; the caller names the variable
  }
}

function urlOf(text: string, schemes: readonly string[]): string | undefined {
  const url = URL.parse(text)
  return url !== null && schemes.includes(url.protocol) && text.includes('://') ? text : undefined
}

/** Origin alone; the client adds the path (section 4). Any other path would be a mistake that calls hide. */
function serviceOrigin(text: string): string | undefined {
  const url = URL.parse(text)
  if (url === null || !['https:', 'http:'].includes(url.protocol)) return undefined
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') return undefined
  return /^\/(?:s2s\/v1\/?)?$/.test(url.pathname) ? url.origin : undefined
}

/** It travels in a header, which takes visible characters and spaces between them. */
function key(what: string): Rule {
  return {
    expected: `${what} that you were given, without line breaks, spaces at its ends or characters outside ASCII`,
    read: (text) => (/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) ? text : undefined),
  }
}

/**
 * An access token as it may stand after `Bearer` (RFC 6750, 2.1). It is pasted by hand, so white space around it and
 * a `Bearer` before it are dropped. Undefined when it is none.
 */
export function accessToken(text: string): string | undefined {
  const bare = text.trim().replace(/^bearer(\s+|$)/i, '')
  return /^[\w.~+/-]+=*$/.test(bare) ? bare : undefined
}

function isLogLevel(text: string): text is LogLevel {
  return LOG_LEVELS.some((level) => level === text)
}
