import { Redis } from 'ioredis'
import type pg from 'pg'
import { expect, it } from 'vitest'
import { openQueue } from '../../src/dispatch/bullmq.ts'
import { connectQueue } from '../../src/dispatch/connect.ts'
import { freePort, HOST } from '../../src/embedded/launch.ts'
import { freshDatabase } from '../support/database.ts'
import { startRedis } from '../support/redis-server.ts'
import { makeRelay } from '../support/relay.ts'
import { until } from '../support/until.ts'

it('a connection to a queue in Postgres that breaks while BullMQ has it in hand, or closes it, is reported and ends no process', async () => {
  await using db = await freshDatabase()
  const reported: Error[] = []
  const { consumer, factory } = await connectQueue(db.url, (error) => reported.push(error))
  const { connection } = factory?.('q', { connection: consumer as never }) ?? expect.fail()
  const client = await connection.pool.connect()
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid')
  await db.sql('SELECT pg_terminate_backend($1)', [rows[0].pid])
  await until(() => reported.length > 0)
  client.release(true)
  const listening = (await connection.getListenClient()) as pg.Client
  const closed = connection.close() // takes all listeners away
  const broken = new Error()
  listening.emit('error', broken)
  await closed
  expect(reported[0]).toMatchObject({ code: '57P01' })
  expect(reported).toContain(broken)
})

it('a queue in Postgres that goes away before it is taken from is said to be away, and works when it is there again', async () => {
  await using db = await freshDatabase()
  await using door = await makeRelay(db.url)
  await door.open()
  const queue = await openQueue({ queueUrl: door.url, name: 'q', onError: () => undefined })
  await door.shut()
  await expect(queue.consume(async () => undefined, { concurrency: 1 })).rejects.toMatchObject({
    code: 'QUEUE_DOWN',
  })
  await queue.close().catch(() => undefined)
  await door.open()
  const again = await openQueue({ queueUrl: door.url, name: 'q', onError: () => undefined })
  await (await again.consume(async () => undefined, { concurrency: 1 })).close(1000)
  await again.close()
})

it('a queue in Postgres without its tables: what makes them, and where, and no password', async () => {
  await using db = await freshDatabase({ empty: true })
  const role = await db.makeRole()
  const refused = await connectQueue(role.url, () => undefined).catch((error) => error)
  expect(refused).toMatchObject({ code: 'NOT_MIGRATED' })
  const { host } = new URL(db.url)
  expect(refused.details.join()).toContain(
    `in postgres://${host}/${db.name}: run \`rollcall migrate\` with this QUEUE_URL`,
  )
  expect(refused.details.join()).not.toContain(`${role.name}@`)
})

it('a right that is lost later names the role of the queue', async () => {
  await using db = await freshDatabase()
  const { name, url } = await db.makeRole()
  const tables = 'ALL ON ALL TABLES IN SCHEMA rollcall_queue'
  await db.sql(`GRANT USAGE ON SCHEMA rollcall_queue TO ${name}; GRANT ${tables} TO ${name}`)
  const queue = await openQueue({ queueUrl: url, name: 'q', onError: () => undefined })
  await db.sql(`REVOKE ${tables} FROM ${name}`)
  const details = [expect.stringContaining(`the role ${name} (QUEUE_URL)`)]
  await expect(queue.count()).rejects.toMatchObject({ code: 'QUEUE_REFUSED', details })
  await queue.close()
})

it('a queue in a Redis Cluster of three nodes: the address of any node is enough, and a cluster that is down or a node that restarts is waited for', async () => {
  await using stack = new AsyncDisposableStack()
  const buses = [await freePort(), await freePort(), await freePort()] as const
  const cluster = (bus: number) => ({
    password: 'cluster',
    more: `cluster-enabled yes\ncluster-port ${bus}\ncluster-node-timeout 1000\ncluster-require-full-coverage no\n`,
  })
  const servers = await Promise.all(buses.map(async (bus) => stack.use(await startRedis(cluster(bus)))))
  const nodes = servers.map(({ url }) =>
    stack.adopt(
      new Redis(url).on('error', () => undefined),
      (node) => node.disconnect(),
    ),
  )
  const open = () => openQueue({ queueUrl: servers[2]?.url ?? '', name: 'q', onError: () => undefined })
  await expect(open()).rejects.toMatchObject({
    code: 'QUEUE_DOWN',
    details: [expect.stringContaining('CLUSTERDOWN')],
  })
  const parts = [0, 5461, 10_923, 16_384]
  for (const [i, node] of nodes.entries()) {
    await node.cluster('ADDSLOTSRANGE', parts[i] ?? 0, (parts[i + 1] ?? 0) - 1)
    await node.cluster('MEET', HOST, new URL(servers[0]?.url ?? '').port, buses[0])
  }
  await until(async () => {
    const infos = await Promise.all(nodes.map((node) => node.cluster('INFO')))
    return infos.every((info) => info.includes('cluster_state:ok') && info.includes('cluster_known_nodes:3'))
  })
  const queue = await open()
  stack.defer(queue.close)
  const taken: string[] = []
  const consumer = await queue.consume(async (job) => void taken.push(...job.map(({ id }) => id)), {
    concurrency: 2,
  })
  stack.defer(() => consumer.close(1000))
  const add = (id: string) => queue.add([[{ id, token: '1', lane: 1 }]])
  await add('before')
  await until(() => taken.includes('before'))
  // The node that has the keys of the queue.
  await servers[0]?.kill()
  await expect(add('lost')).rejects.toMatchObject({ code: 'QUEUE_DOWN' })
  await servers[0]?.restart()
  await until(() => add('after').then(() => true))
  await until(() => taken.includes('after'))
  const { redis, close } = await connectQueue(servers[2]?.url ?? '', () => undefined)
  stack.defer(close)
  // The named node; BullMQ breaks a connection off when it waits for an answer for too long.
  await servers[2]?.kill()
  redis?.disconnect(true)
  await until(() => redis?.status === 'ready')
})
