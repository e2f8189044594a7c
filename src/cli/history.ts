import { readEnv } from '../config/env.ts'
import { readHistory } from '../ledger/history.ts'
import { checkMigrated } from '../ledger/migrate.ts'
import { withPool } from './connect.ts'
import type { ExitCode, Io } from './io.ts'
import { knownSpelling } from './named.ts'
import { readLimit } from './option-values.ts'
import { asJson } from './render.ts'
import { renderStored } from './render-history.ts'

type Asked = {
  /** As typed. */
  readonly keys: readonly string[]
  /** As given. */
  readonly limit: string | undefined
  readonly json: boolean
}

const CALLS = 50

/**
 * What Postgres holds of these customers and their last calls; no call, no write. 3 when one of them is known nowhere:
 * a script that asks about a mistyped key must not take it for a customer who is well.
 */
export async function history(io: Io, { keys, limit, json }: Asked): Promise<ExitCode> {
  const most = limit === undefined ? CALLS : readLimit(limit)
  const { DATABASE_URL: url } = readEnv(io.env, { need: ['DATABASE_URL'] })
  return await withPool({ url, stop: io.stop }, async (pool) => {
    await checkMigrated(pool)
    const found = []
    for (const key of await knownSpelling(pool, keys))
      found.push({ key, history: await readHistory(pool, key, most) })
    if (json) io.out(asJson(found))
    else
      found.forEach(({ key, history }, index) => {
        if (index > 0) io.out('')
        for (const text of renderStored(history, key)) io.out(text)
      })
    return found.some(({ history }) => history === null) ? 3 : 0
  })
}
