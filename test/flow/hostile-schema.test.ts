// An application role may create functions and operators in `public`. None of them may ever run as rollcall.
import { expect, test } from 'vitest'
import { rollcall } from '../support/command.ts'
import { makeHostile } from '../support/hostile.ts'
import { buildHouse, CUSTOMERS } from '../support/house.ts'
import { postgres as lane } from '../support/lanes.ts'

test('nothing that stands in the schema public runs as the owner, the worker, or the role that runs a printed script', async () => {
  await using house = await buildHouse(lane, {
    sql: `CREATE EXTENSION citext; ${CUSTOMERS.replace('id text', 'id citext')}`,
  })
  const run = async (...args: readonly string[]) => {
    const { code, output } = await rollcall(house, ...args)
    expect(output, args.join(' ')).not.toContain('hostile')
    expect(code, `${args.join(' ')}: ${output}`).toBe(0)
    return output
  }
  expect(await makeHostile(house.db.pool)).toBeGreaterThan(500)

  await run('capture', 'uninstall')
  const script = await run('capture', 'install', '--print')
  await house.sql(script)
  await run('capture', 'status')
  await run('capture', 'install')
  await run('migrate')
  await house.sql(await run('grants', '--to', new URL(house.env.DATABASE_URL ?? '').username, '--queue'))
  await house.startWorker()
  await house.settle(
    `INSERT INTO clientes (id, plan, pais) VALUES ('Ana', 'premium', 'ES'), ('bo', 'free', 'ES')`,
  )
  await house.settle(`UPDATE clientes SET correo = 'a@b.example' WHERE id = 'Ana'`)
  await run('explain', 'Ana')
  await run('backfill', '--dry-run', '--where', 'id=ANA')
  await run('backfill')
  await house.settled()
  await run('drift', '--sample', '2')
  for (const look of ['status', 'failures', 'held', 'pace', 'answers', 'erasures']) await run(look)
  expect(house.calls('Ana').map(({ method }) => method)).toContain('POST')
})
