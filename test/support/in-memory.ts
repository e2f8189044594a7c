// A database of its own for nearly every test means hundreds of thousands of small files. On some disks a single
// database takes half a second of them.
import { constants } from 'node:fs'
import { access, statfs } from 'node:fs/promises'
import { type PostgresOptions, startPostgres } from '../../src/embedded/postgres.ts'
import { RollcallError } from '../../src/model/errors.ts'
import { chosenPostgres } from './distribution.ts'
import { type FallingServer, falling } from './falling.ts'

const PLACE = '/dev/shm'
const TMPFS = 0x01021994
const GIB = 2 ** 30
/** Several times what the servers of a run have ever taken. */
const ROOM = { place: 2 * GIB, memory: 4 * GIB }

/** Where the files may go; undefined: where temporary files go. */
async function roomInMemory(): Promise<string | undefined> {
  try {
    await access(PLACE, constants.W_OK)
    const { type, bavail, bsize } = await statfs(PLACE)
    const enough = bavail * bsize >= ROOM.place && process.availableMemory() >= ROOM.memory
    return type === TMPFS && enough ? PLACE : undefined
  } catch {
    // There is no such place here.
    return undefined
  }
}

export async function startPostgresInMemory(
  given: Omit<PostgresOptions, 'place'> = {},
): Promise<FallingServer> {
  return falling(await startInRoom(given), 'SIGINT')
}

/** As `startPostgres`, or with the Postgres that TEST_POSTGRES_BIN names. A place that nothing can be run from, or that does not do for another reason, is left again. */
async function startInRoom(given: Omit<PostgresOptions, 'place'>) {
  const { settings, ...chosen } = chosenPostgres()
  const options = { ...given, ...chosen, settings: { ...settings, ...given.settings } }
  const place = await roomInMemory()
  if (place === undefined) return await startPostgres(options)
  try {
    return await startPostgres({ ...options, place })
  } catch (error) {
    if (!(error instanceof RollcallError) || error.code !== 'EMBEDDED_FAILED') throw error
    return await startPostgres(options)
  }
}
