import { createHmac } from 'node:crypto'
import { hostname } from 'node:os'
import { pid } from 'node:process'
import { type DestinationStream, destination, type Logger, pino } from 'pino'
import type { LogLevel } from '../config/env.ts'
import { HIDDEN, looksRandom, withoutCredentials } from '../model/secrets.ts'
import { words } from '../model/values.ts'

export type Log = Logger

type Options = {
  /** With it customer keys are hidden: each is replaced by a digest made with this. */
  readonly hideKeysBy?: string | undefined
  /** Keys and passwords. One that looks random stands in no line, whatever puts it there. */
  readonly secrets?: readonly string[]
  readonly stream?: DestinationStream
}

/** Names of things that a log object must not hold, at any of its first three levels. */
const SECRET_NAMES = words(`password apiKey secretKey digestKey accessToken connectionString
  authorization Authorization Api-Key Secret-Key api-key secret-key DATABASE_URL MIGRATE_DATABASE_URL QUEUE_URL
  ROLLCALL_DIGEST_KEY SERVICE_API_KEY SERVICE_SECRET_KEY SERVICE_ACCESS_TOKEN`)

/**
 * JSON lines on stderr. Customer keys stand under the names `customer`, `key`, `keys` and `examples` alone, so that they
 * can be hidden here. Field values and secrets are not logged at all; removing secrets by name, by the form of an
 * address, and by a text that looks random is a second guard.
 */
export function makeLog(level: LogLevel, options: Options = {}): Log {
  const { hideKeysBy, secrets = [], stream = stderr() } = options
  return pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      redact: {
        paths: SECRET_NAMES.flatMap((name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`]),
        censor: HIDDEN,
      },
      hooks: { streamWrite: withoutSecrets(secrets) },
      ...(hideKeysBy === undefined ? {} : { serializers: hiddenKeys(hideKeysBy) }),
    },
    stream,
  )
}

/** Work goes on without a log where its disk is full; a little is kept until there is room again. */
const stderr = () => destination({ fd: 2, sync: true, maxLength: 65_536 }).on('error', () => undefined)

/** The longest first: one may be part of another. */
function withoutSecrets(secrets: readonly string[]): (line: string) => string {
  const written = [...new Set(secrets)]
    .filter(looksRandom)
    .sort((a, b) => b.length - a.length)
    .map((secret) => JSON.stringify(secret).slice(1, -1))
  return (line) => written.reduce((text, secret) => text.replaceAll(secret, HIDDEN), withoutCredentials(line))
}

/** The same in every line and every process, so that lines can be joined. */
export function hideKey(key: unknown, digestKey: string): string {
  const digest = createHmac('sha256', digestKey).update(`log\0${String(key)}`)
  return digest.digest('hex').slice(0, 12)
}

function hiddenKeys(digestKey: string) {
  const hide = (key: unknown) => (key === null || key === undefined ? key : hideKey(key, digestKey))
  const hideAll = (keys: unknown) => (Array.isArray(keys) ? keys.map(hide) : hide(keys))
  return { customer: hide, key: hide, keys: hideAll, examples: hideAll }
}

/** Name of a process, where several work on the same tables: `worker web-1/4711`. */
export function processName(what: string): string {
  return `${what} ${hostname()}/${pid}`
}

/** Short troubles page no one: the level rises as the same trouble goes on. */
export function troubleLevel(failures: number): 'debug' | 'warn' | 'error' {
  if (failures <= 1) return 'debug'
  return failures <= 4 ? 'warn' : 'error'
}

/** The end of a trouble that was not reported is no news. */
export function recoveryLevel(failures: number): 'debug' | 'info' {
  return troubleLevel(failures) === 'debug' ? 'debug' : 'info'
}

/** One line in this time, however often the same trouble is reported. */
const QUIET_MS = 5000

/**
 * For a trouble that many parts report at once: the first is reported, the rest are counted and reported with the next. Only for
 * sources whose messages hold no values.
 */
export function makeQuiet<E = Error>(
  tell: (error: E, times: number) => void,
  now: () => number,
): (error: E) => void {
  let reportedAt = Number.NEGATIVE_INFINITY
  let times = 0
  return (error) => {
    times++
    if (now() - reportedAt < QUIET_MS) return
    tell(error, times)
    reportedAt = now()
    times = 0
  }
}
