// A database that went back in time: what takes a server of its own, or many workers.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { lanes } from '../support/lanes.ts'
import { buildOwnHouse, type OwnHouse } from '../support/own-house.ts'
import { runRollcall } from '../support/process.ts'
import { until } from '../support/until.ts'
import { BACK, GO_BACK, run, runsAndStops, settledFive } from '../support/went-back.ts'

const [redis] = lanes
if (!redis) throw new Error('there are two lanes')

test.skipIf(!redis.available)(
  'stops a worker while it is more, and no longer once the operator has decided',
  async () => {
    await using house = await settledFive(redis)
    await runsAndStops(house)
    await house.sql(GO_BACK)
    expect(await run(house, 'worker')).toMatchObject(BACK)
    expect(await run(house, 'migrate', '--target', 'same')).toMatchObject({ code: 0 })
    await runsAndStops(house)
  },
)

/** The data directory of a server that was killed, as a disk holds it at that moment. */
async function snapshot({ pool, postgres: server }: OwnHouse) {
  const { rows } = await pool.query<{ data_directory: string }>('SHOW data_directory')
  const data = rows[0]?.data_directory ?? ''
  const copy = async (from: string, to: string) => {
    await server.kill()
    await promisify(execFile)('sh', [
      '-c',
      'rm -rf "$2" && cp -a "$1" "$2" && rm -f "$2/postmaster.pid"',
      'sh',
      from,
      to,
    ])
    await server.restart()
  }
  await copy(data, `${data}-snapshot`)
  return { putBack: () => copy(`${data}-snapshot`, data) }
}

const LAST_TOKEN = 'SELECT last_value::int AS last FROM rollcall.token'
/** See src/ledger/watermark.ts. */
const LEAP = 40

async function lastToken({ pool }: OwnHouse): Promise<number> {
  const { rows } = await until(() => pool.query<{ last: number }>(LAST_TOKEN), { what: 'the last token' })
  return rows[0]?.last ?? 0
}

/** A worker that has nothing to do any more has taken tokens that no crash brings back, and kept the last of them. */
async function pausedSince(house: OwnHouse, before: number): Promise<void> {
  await until(async () => (await lastToken(house)) > before + LEAP, { what: 'the leap of the tokens' })
}

test.skipIf(!redis.available)(
  'a disk snapshot that is put back is noticed, and `new` makes all right',
  async () => {
    await using house = await buildOwnHouse(redis)
    const { pool, sandbox } = house
    const write = (sql: string) => until(() => pool.query(sql), { what: 'the write is taken' })
    await write(`INSERT INTO clientes (id, plan) VALUES ('c', 'premium')`)
    let before = await lastToken(house)
    const running = await runRollcall(house, ['worker'])
    await using worker = running
    await until(() => sandbox.users.get('c')?.status === 2)
    await house.settled()
    await pausedSince(house, before)
    const disk = await snapshot(house)
    before = await lastToken(house)
    await write(`UPDATE clientes SET plan = 'free'`)
    await until(() => sandbox.users.get('c')?.status === 0)
    await house.settled()
    await pausedSince(house, before)

    await disk.putBack()
    expect({ ...(await worker.exited), output: worker.output() }).toMatchObject(BACK)
    expect(await run(house, 'worker')).toMatchObject(BACK)
    expect(sandbox.users.get('c')?.status).toBe(0)

    expect(await run(house, 'migrate', '--target', 'new')).toMatchObject({ code: 0 })
    await using again = await runRollcall(house, ['worker'])
    await until(() => sandbox.users.get('c')?.status === 2)
    again.kill('SIGTERM')
    expect(await again.exited).toMatchObject({ code: 0 })
  },
)
