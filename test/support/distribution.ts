// The Postgres of the system, as integrators run it: with JIT, and with every setting at its default.
import { accessSync, constants, globSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The folder of its programs: on the PATH, or where Debian keeps them; undefined where there is none. */
export function findDistribution(): string | undefined {
  const onPath = (process.env.PATH ?? '').split(delimiter)
  const ofDebian = globSync('/usr/lib/postgresql/*/bin').sort()
  return [...onPath, ...ofDebian].find((folder) => runs(folder, 'initdb') && runs(folder, 'postgres'))
}

function runs(folder: string, program: string): boolean {
  try {
    accessSync(join(folder, program), constants.X_OK)
    return true
  } catch {
    return false // not there
  }
}

/** Programs of the server that TEST_POSTGRES_BIN names, and what it is started with. */
export function chosenPostgres() {
  const folder = process.env.TEST_POSTGRES_BIN
  if (!folder) return {}
  return {
    binaries: { initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres') },
    settings: { fsync: 'on', full_page_writes: 'on', jit: 'on', autovacuum_naptime: '1min' },
  }
}
