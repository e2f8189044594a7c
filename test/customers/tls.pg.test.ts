import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { addressOf } from '../../src/config/address.ts'
import { endPool, knock, makePool } from '../../src/database/pool.ts'
import { serverAccount } from '../../src/embedded/account.ts'
import { reachable } from '../../src/ledger/reachable.ts'
import { makeCertificate } from '../service/certificate.ts'
import type { FallingServer } from '../support/falling.ts'
import { startPostgresInMemory } from '../support/in-memory.ts'

let folder: string
let secure: FallingServer
let plain: FallingServer

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rollcall-tls-'))
  const { key, cert } = makeCertificate()
  const account = await serverAccount()
  await writeFile(join(folder, 'key.pem'), key, { mode: 0o600 })
  await writeFile(join(folder, 'cert.pem'), cert)
  if (account)
    for (const path of [folder, join(folder, 'key.pem')]) await chown(path, account.uid, account.gid)
  const files = { ssl_cert_file: join(folder, 'cert.pem'), ssl_key_file: join(folder, 'key.pem') }
  plain = await startPostgresInMemory()
  secure = await startPostgresInMemory({ settings: { ssl: 'on', ...files } })
})

afterAll(async () => {
  await secure.stop()
  await plain.stop()
  await rm(folder, { recursive: true, force: true })
})

function withOptions(url: string, options: string): string {
  return `${url}?${options.replace('CERT', encodeURIComponent(join(folder, 'cert.pem')))}`
}

async function isEncrypted(url: string): Promise<boolean> {
  const pool = makePool({ url, max: 1, onError: () => undefined })
  try {
    const ask = 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()'
    return (await pool.query<{ ssl: boolean }>(ask)).rows[0]?.ssl === true
  } finally {
    await endPool(pool, 0)
  }
}

it.each([
  '',
  'sslmode=disable',
  'sslmode=no-verify',
  'sslmode=verify-full&sslrootcert=CERT',
  'sslmode=require&sslrootcert=CERT',
  'sslmode=verify-ca&sslrootcert=CERT',
  'sslmode=require&uselibpqcompat=true',
  'sslmode=verify-full&sslrootcert=CERT&sslmode=disable',
  'ssl=true&sslrootcert=CERT',
  'sslnegotiation=direct&sslmode=no-verify',
])('with the options "%s" a connection is encrypted just when the address is said to be', async (options) => {
  const url = withOptions(secure.url, options)
  expect(await isEncrypted(url)).toBe(addressOf(url)?.encrypted)
})

it.each([
  ['a server whose certificate is not signed', () => secure.url, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ['a server that knows no TLS', () => plain.url, 'The server does not support SSL connections'],
])('a connection that is to be encrypted does not come about with %s', async (_, url, reason) => {
  const failed = reachable(() => knock(`${url()}?sslmode=verify-full`, new AbortController().signal))
  await expect(failed).rejects.toMatchObject({ code: 'TLS_FAILED', details: [reason] })
})
