import { readFileSync } from 'node:fs'
import { RollcallError } from '../model/errors.ts'
import { isPostgres, PLAINTEXT, type Plaintext, plaintextProblem } from './address.ts'

/** The variables that hold addresses, keys and passwords; each may also be read from the file NAME_FILE. */
export type Variable = keyof typeof VARIABLES

/** `LOG_LEVEL` as pino has them. */
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** `LOG_KEYS`: customer keys as they are, or digests of them. */
export const LOG_KEYS = ['shown', 'hidden'] as const
type LogKeys = (typeof LOG_KEYS)[number]

type Settings = { readonly LOG_LEVEL: LogLevel; readonly LOG_KEYS: LogKeys }

export type Env<Need extends Variable, May extends Variable = never> = {
  readonly [V in Need]: string
} & { readonly [V in May]?: string } & Settings

type Wanted<Need, May> = {
  readonly need: readonly Need[]
  /** The variables that it takes when it is set; these must be right then. */
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
  const problems: string[] = []
  const plaintext = (env.ALLOW_PLAINTEXT ?? '').split(/[\s,]+/).filter(Boolean)
  if (!plaintext.every((word) => PLAINTEXT.some((known) => known === word)))
    problems.push(`ALLOW_PLAINTEXT: expected one of: ${PLAINTEXT.join('; ')}; ${PLAINTEXT.join()}`)
  const read = (needed: boolean) => (name: Variable) => [name, readVariable(name, needed)] as const
  const values = [...need.map(read(true)), ...may.map(read(false))].filter(([, value]) => value !== undefined)
  const settings = {
    LOG_LEVEL: oneOf('LOG_LEVEL', LOG_LEVELS, 'info'),
    LOG_KEYS: oneOf('LOG_KEYS', LOG_KEYS, 'shown'),
  }
  if (problems.length > 0) throw new RollcallError('ENV_INVALID', problems)
  return { ...Object.fromEntries(values), ...settings } as Env<Need, May>

  function oneOf(name: string, known: readonly string[], usual: string): string {
    const text = env[name] || usual
    if (!known.includes(text)) problems.push(`${name}: expected one of ${known.join(', ')}`)
    return text
  }

  /** Undefined where it is not set, or wrong: then there is one problem more. */
  function readVariable(name: Variable, needed: boolean): string | undefined {
    const { expected, read, use }: Rule = VARIABLES[name]
    const file = env[`${name}_FILE`]
    const wrong = (problem: string) => void problems.push(problem)
    if (env[name] && file) return wrong(`${name}: ${name}_FILE is also set; set only one of them`)
    const text = file ? readText(file) : env[name]
    if (text === undefined && file) return wrong(`${name}_FILE: rollcall cannot read this file`)
    if (!text) return needed || file ? wrong(`${name}: missing; expected ${expected}`) : undefined
    const value = read(text)
    if (value === undefined) return wrong(`${name}: expected ${expected}`)
    const plain = use && plaintextProblem(value, { use, allowed: plaintext })
    return plain === undefined ? value : wrong(`${name}: ${plain}`)
  }
}

/**
 * The secrets of the variables that were read: keys as they are, and the passwords of addresses, in each form in which
 * a driver may have them.
 */
export function secretsOf(env: { readonly [V in Variable]?: string }): string[] {
  return Object.entries(env).flatMap(([name, value]) => {
    if (/_(KEY|TOKEN)$/.test(name)) return [value]
    const url = /_URL$/.test(name) ? URL.parse(value) : null
    const passwords = url ? [url.password, ...url.searchParams.getAll('password')] : []
    return passwords.flatMap((text) => (text ? [text, decoded(text)] : []))
  })
}

/** A percent sign that encodes nothing is one that was written so. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

type Rule = {
  readonly expected: string
  /** The value to use, or undefined when it is not what was expected. */
  readonly read: (text: string) => string | undefined
  /** Passwords and personal data go over it. SERVICE_URL is checked where the configuration is known. */
  readonly use?: Plaintext
}

const POSTGRES_SCHEMES = ['postgres:', 'postgresql:']
const DATABASE: Rule = {
  expected: 'postgres://user:password@host:5432/database, special characters percent-encoded',
  read: (text) => urlOf(text, POSTGRES_SCHEMES),
  use: 'database',
}

const VARIABLES = {
  DATABASE_URL: DATABASE,
  MIGRATE_DATABASE_URL: DATABASE,
  QUEUE_URL: {
    use: 'queue',
    expected:
      'redis://host:6379/0 or rediss://host:6379/0, or postgres:// as for DATABASE_URL, special characters percent-encoded',
    read: queueUrl,
  },
  SERVICE_URL: {
    expected:
      'https://HOST or https://HOST/s2s/v1, without user name, password or query (http:// only for a service on this machine, or with service.allowPlainHttp)',
    read: serviceOrigin,
  },
  SERVICE_API_KEY: key('Api-Key'),
  SERVICE_SECRET_KEY: key('Secret-Key'),
  SERVICE_ACCESS_TOKEN: {
    expected: 'only the access token (JWT) of an end user',
    read: accessToken,
  },
  ROLLCALL_DIGEST_KEY: {
    expected: 'a secret of your own with at least 32 characters; `openssl rand -hex 32` makes one',
    read: (text) => (text.length >= 32 ? text : undefined),
  },
  OPS_HOST: {
    expected: 'a host name or an IP address of this machine (default: 127.0.0.1)',
    read: (text) => (/^[\w.:%-]+$/.test(text) ? text : undefined),
  },
  OPS_PORT: {
    expected: 'a port number, 0 (any free port) or `off`',
    read: (text) => (text === 'off' || (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) ? text : undefined),
  },
} as const satisfies Record<string, Rule>

/** Editors and `echo` end a file with a newline that belongs to no key. */
function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '')
  } catch {
    return undefined // why exactly (missing, a folder, no right) is not distinguished; the caller names the variable
  }
}

/** Text behind a `#` and a path with an `@` are part of no address: they come from a password that is not encoded, say. */
function urlOf(text: string, schemes: readonly string[]): string | undefined {
  const url = URL.parse(text)
  if (url === null || text.includes('#') || url.pathname.includes('@')) return undefined
  // Drivers look for the scheme in small letters.
  return schemes.some((scheme) => url.protocol === scheme && text.startsWith(`${scheme}//`))
    ? withPlainSslMode(text)
    : undefined
}

/** pg takes both for `verify-full`, and warns about that at each start. */
function withPlainSslMode(text: string): string {
  if (text.includes('uselibpqcompat=')) return text
  return text.replace(/\?.*/, (query) =>
    query.replace(/(?<=[?&]sslmode=)(require|verify-ca)(?=&|$)/g, 'verify-full'),
  )
}

function queueUrl(text: string): string | undefined {
  const known = urlOf(text, ['redis:', 'rediss:', ...POSTGRES_SCHEMES])
  if (known === undefined || isPostgres(known)) return known
  const { pathname, searchParams } = new URL(known)
  const databases = [pathname.replace(/^\//, ''), ...searchParams.getAll('db')]
  return databases.every((name) => /^\d*$/.test(name)) ? known : undefined
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
    expected: `the ${what} of your service account: printable ASCII, with no space at its beginning or end`,
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
