// Where an address leads, and whether what is said on the way can be overheard. Nothing is connected here.
import { BlockList, isIP } from 'node:net'
import pg from 'pg'

/** Which connections may be plain to another machine. The service has its own setting, `service.allowPlainHttp`. */
export const PLAINTEXT = ['database', 'queue'] as const
export type Plaintext = (typeof PLAINTEXT)[number]

/** The result of reading an address. `local`: it stays on this machine. */
type CheckedAddress = { readonly server: string; readonly local: boolean; readonly encrypted: boolean }

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')

/** Sockets of the file system, and names and numbers that never leave this machine. */
export function isLocal(host: string): boolean {
  const family = isIP(host)
  if (family !== 0) return LOOPBACK.check(host, family === 6 ? 'ipv6' : 'ipv4')
  return host.startsWith('/') || host.toLowerCase() === 'localhost'
}

/** Reads a `postgres://`, `redis://` or `rediss://` address; undefined when its options cannot be used (a missing file, say). */
export function addressOf(url: string): CheckedAddress | undefined {
  return isPostgres(url) ? postgresAddress(url) : redisAddress(url)
}

export function isPostgres(url: string): boolean {
  return /^postgres(ql)?:/i.test(url)
}

/** In other programs these two mean that plain text will do; pg encrypts with them as yet. */
const HALFHEARTED = new Set(['allow', 'prefer'])

/**
 * Asked of pg itself, without connecting: options in the address win over its parts, the last of several wins, and
 * PGHOST, PGPORT and PGSSLMODE fill what is missing. Whatever else decides, pg never falls back from TLS to plain.
 */
function postgresAddress(url: string): CheckedAddress | undefined {
  const mode = new URL(url).searchParams.getAll('sslmode').at(-1)
  try {
    const { host, port, ssl } = new pg.Client({ connectionString: url })
    const encrypted = Boolean(ssl) && !HALFHEARTED.has(mode ?? '')
    return { server: host.startsWith('/') ? host : serverOf(host, port), local: isLocal(host), encrypted }
  } catch {
    return undefined // its words may quote the address; the caller names the variable
  }
}

/** As ioredis reads it: an option `tls` in the address replaces what the scheme says, even by nothing. */
function redisAddress(url: string): CheckedAddress {
  const { hostname, port, searchParams } = new URL(url)
  const path = searchParams.getAll('path').at(-1)
  const encrypted = url.startsWith('rediss://') && !searchParams.has('tls')
  if (path) return { server: path, local: true, encrypted }
  const host = hostname.replace(/^\[|\]$/g, '') || searchParams.getAll('host').at(-1) || 'localhost'
  const number = Number(port || searchParams.getAll('port').at(-1) || 6379)
  return { server: serverOf(host, number), local: isLocal(host), encrypted }
}

function serverOf(host: string, port: number): string {
  return isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`
}

const ENCRYPT = {
  postgres:
    'set sslmode=verify-full in the address (sslmode=no-verify encrypts, but does not verify the server)',
  redis: 'use rediss:// (and remove the parameter tls if the address has one)',
}

/** Says what is wrong with an address, or undefined; it names nothing of the address but the host. */
export function plaintextProblem(
  url: string,
  { use, allowed }: { readonly use: Plaintext; readonly allowed: readonly string[] },
): string | undefined {
  const address = addressOf(url)
  if (!address)
    return 'rollcall cannot use an option of the address (for example, it cannot read the file of sslrootcert)'
  if (address.local || address.encrypted || allowed.includes(use)) return undefined
  const how = ENCRYPT[isPostgres(url) ? 'postgres' : 'redis']
  return `the connection to another machine is not encrypted: ${how}. Or set ALLOW_PLAINTEXT=${use} if the network is private`
}
