import { pino } from 'pino'
import { expect, test } from 'vitest'
import { resolveConfig } from '../../src/config/resolve.ts'
import { bindTarget } from '../../src/ledger/target.ts'
import { makeHousekeeping } from '../../src/worker/housekeeping.ts'
import { freshDatabase } from '../support/database.ts'
import { CONFIG, CUSTOMERS } from '../support/house.ts'
import { installCapture } from '../support/install.ts'

test('a column that is gone is named in the log of a worker that runs, again as long as it lasts', async () => {
  await using db = await freshDatabase()
  await db.sql(CUSTOMERS)
  const config = resolveConfig(CONFIG, 'rollcall.config.ts')
  await installCapture(db.pool, config)
  const target = { origin: 'https://service.example', apiKey: 'key', digestKey: 'a key of the digests' }
  const binding = await bindTarget(db.pool, target)
  const log: string[] = []
  let now = 0
  const housekeep = makeHousekeeping({
    ...{ pool: db.pool, config, binding, now: () => now },
    log: pino({}, { write: (line: string) => void log.push(line) }),
  })
  await housekeep()
  expect(log).toEqual([])

  await db.sql('ALTER TABLE clientes RENAME movil TO tel')
  for (const minute of [1, 2]) {
    now = minute * 60_000
    await housekeep()
    const lacks = 'there is no column "movil" in public.clientes'
    expect(log.splice(0).map((line) => JSON.parse(line))).toMatchObject([
      { level: 50, problem: `mapping.mobile_phone: ${lacks}`, msg: expect.stringContaining('does not fit') },
      { level: 50, table: 'public.clientes', reasons: expect.arrayContaining([lacks]) },
    ])
  }
})
