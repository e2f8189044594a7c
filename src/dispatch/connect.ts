import { setTimeout as sleep } from 'node:timers/promises'
import { assertSchemaCompatibility, createPostgresBackend, SchemaMigrationRequiredError } from 'bullmq'
import { Cluster, type ClusterOptions, Redis } from 'ioredis'
import pg from 'pg'
import { connectOne, type DatabaseAddress, roleOf, sessionConfig } from '../database/session.ts'
import { QUEUE_SCHEMA } from '../ledger/migrate.ts'
import { databaseError, tlsProblem } from '../ledger/reachable.ts'
import { RollcallError } from '../model/errors.ts'
import { nameOf } from '../model/name-of.ts'

const CONNECT_TIMEOUT_MS = 5000
/** A server that says nothing for so long is as good as away: longer than BullMQ ever waits for a job in one go. */
const SILENT_MS = 45_000

const REDIS = {
  // BullMQ is tested with RESP2, ioredis 6 would speak RESP3.
  protocol: 2 as const,
  lazyConnect: true,
  maxRetriesPerRequest: null,
  connectTimeout: CONNECT_TIMEOUT_MS,
  socketTimeout: SILENT_MS,
}

type BackendFactory = typeof createPostgresBackend | undefined

export type QueueConnection = {
  /** For adding jobs: fails at once while the server is away, so that dispatch can say so and go on. */
  readonly producer: object
  /** For taking jobs: waits for the server to come back. */
  readonly consumer: object
  readonly factory: BackendFactory
  /** As `producer`; null: the queue is in Postgres. */
  readonly redis: Redis | Cluster | null
  close(): Promise<void>
}

/**
 * Probes the server before any BullMQ object is made: with a Postgres backend a refused first connection is
 * remembered for ever and never reported, and an unmigrated schema spins the event loop.
 */
export function connectQueue(queueUrl: string, onError: (error: Error) => void): Promise<QueueConnection> {
  return isPostgres(queueUrl) ? connectPostgres(queueUrl, onError) : connectRedis(queueUrl, onError)
}

async function connectRedis(queueUrl: string, onError: (error: Error) => void): Promise<QueueConnection> {
  const first = new Redis(queueUrl, { ...REDIS, enableOfflineQueue: false })
  // An error of the first connection is thrown; later ones are reported.
  first.on('error', () => undefined)
  const opened: (Redis | Cluster)[] = [first]
  const close = async () => {
    for (const each of opened) each.disconnect()
  }
  try {
    const nodes = await firstConnect(first)
    const producer = nodes ? clusterOf(first, nodes, { enableOfflineQueue: false }) : first
    const consumer = nodes ? clusterOf(first, nodes) : new Redis(queueUrl, REDIS)
    opened.push(producer, consumer)
    if (nodes) {
      first.disconnect()
      await firstly(producer, producer.connect())
    }
    producer.on('error', onError)
    consumer.on('error', onError)
    return { producer, consumer, factory: undefined, redis: producer, close }
  } catch (error) {
    await close()
    throw error instanceof RollcallError ? error : redisError(error, where(queueUrl))
  }
}

/**
 * All nodes of the cluster that a node belongs to, by the credentials that the node took. A connection that is made anew
 * knows only the nodes given here, and the named one may be away by then.
 */
function clusterOf(node: Redis, nodes: readonly Address[], options: ClusterOptions = {}): Cluster {
  const { host, port, username, password, tls } = node.options
  const redisOptions = { ...REDIS, username, password, ...(tls && { tls }) }
  return new Cluster([{ host, port }, ...nodes], { ...options, lazyConnect: true, redisOptions })
}

type Address = { readonly host: string; readonly port: number }

/** Resolves to the nodes of the cluster that the server belongs to; null: it is a server by itself. */
function firstConnect(redis: Redis): Promise<Address[] | null> {
  const connect = async () => {
    await redis.connect()
    await redis.ping()
    await refuseEviction(redis)
    if (!(await redis.info('cluster')).includes('cluster_enabled:1')) return null
    const slots = await redis.cluster('SLOTS')
    const nodes = slots.flatMap(([, , ...holders]) => holders.map(([host, port]) => ({ host, port })))
    // A node that does not know its own address gives none.
    return nodes.filter(({ host }) => host)
  }
  return firstly(redis, connect())
}

/** ioredis tries again for ever; the very first connection is tried once, so that what is wrong is told. */
async function firstly<T>(redis: Redis | Cluster, first: Promise<T>): Promise<T> {
  const late = new AbortController()
  const failed = new Promise<never>((_, reject) => {
    redis.once('error', (error) => reject(error.lastNodeError ?? error))
    // If a cluster is down, ioredis tells nothing else: its `connect` stays open for ever.
    if (redis instanceof Cluster) redis.once('close', () => reject(new Down()))
  })
  // A server that takes the connection and then says nothing is as good as away.
  const silent = sleep(CONNECT_TIMEOUT_MS, undefined, { signal: late.signal })
  const ended = Promise.race([failed, silent.then(() => Promise.reject(new Silent()))])
  try {
    return await Promise.race([first, ended])
  } finally {
    late.abort()
  }
}

class Down extends Error {
  readonly code = 'CLUSTERDOWN'
}

class Silent extends Error {}

/** Answers of a server that will do better by itself: it loads its data, has no connection left, or waits for its master. */
const NOT_YET = /^(LOADING|BUSY|MASTERDOWN|TRYAGAIN|CLUSTERDOWN|NOSCRIPT|ERR max number of clients)/

/** The queue's refusals hold names of users, commands and keys of BullMQ, no values. */
function redisError(error: unknown, server: string): RollcallError {
  const options = { cause: error }
  const tls = tlsProblem(error)
  if (tls) return new RollcallError('TLS_FAILED', [`${server}: ${tls}`], options)
  const reply = replyOf(error)
  const code = reply !== undefined && !NOT_YET.test(reply) ? 'QUEUE_REFUSED' : 'QUEUE_DOWN'
  return new RollcallError(code, [`${server}: ${reply ?? nameOf(error).code ?? 'no answer'}`], options)
}

/** The answer of Redis itself; ioredis does not give the type of these errors away. */
function replyOf(error: unknown): string | undefined {
  return error instanceof Error && error.name === 'ReplyError' ? error.message : undefined
}

/** A server that evicts keys throws away single parts of a queue, after which it stands still. */
async function refuseEviction(redis: Redis): Promise<void> {
  const memory = await redis.info('memory')
  const policy = /maxmemory_policy:(\S+)/.exec(memory)?.[1]
  if (policy && policy !== 'noeviction')
    throw new RollcallError('QUEUE_UNFIT', [`maxmemory-policy is ${policy}`])
}

async function connectPostgres(queueUrl: string, onError: (error: Error) => void): Promise<QueueConnection> {
  const address = { url: queueUrl, variable: 'QUEUE_URL' }
  try {
    await probe(address)
  } catch (error) {
    throw postgresError(error, queueUrl)
  }
  const Client = listened(onError)
  const pool = (max: number) => ({
    ...sessionConfig(address, 'queue'),
    schema: QUEUE_SCHEMA,
    max,
    keepAlive: true,
    ...{ query_timeout: SILENT_MS, connectionTimeoutMillis: 2 * CONNECT_TIMEOUT_MS },
    Client,
  })
  return {
    producer: pool(2),
    consumer: pool(8),
    factory(...given) {
      const backend = createPostgresBackend(...given)
      // BullMQ opens the session of LISTEN outside its pool, with this in place of the pool's `Client`.
      Object.assign(backend.connection, { pgModule: { Client } })
      return backend
    },
    redis: null,
    async close() {},
  }
}

async function probe(address: DatabaseAddress): Promise<void> {
  const client = await connectOne(address, { connectionTimeoutMillis: CONNECT_TIMEOUT_MS })
  try {
    await assertSchemaCompatibility(client, QUEUE_SCHEMA)
  } finally {
    await client.end().catch(() => undefined)
  }
}

/**
 * A connection that breaks without a listener ends the process. BullMQ listens to idle connections only. It does not
 * listen just after the start, during a query, or while it closes the connection.
 */
function listened(onError: (error: Error) => void): typeof pg.Client {
  return class extends pg.Client {
    constructor(config?: string | pg.ClientConfig) {
      super(config)
      this.on('error', onError)
    }
    override removeAllListeners(...of: [event?: string | symbol]): this {
      return super.removeAllListeners(...of).on('error', onError)
    }
  }
}

/** Turns the message of a queue that goes away into an error of ours. */
export function queueError(error: unknown, queueUrl: string): unknown {
  if (error instanceof RollcallError) return error
  if (isPostgres(queueUrl)) return postgresError(error, queueUrl)
  // BullMQ passes on what ioredis says of a connection that ended, which has no code.
  return redisError(error, where(queueUrl))
}

function isPostgres(queueUrl: string): boolean {
  return /^postgres(ql)?:/.test(queueUrl)
}

function postgresError(error: unknown, queueUrl: string): unknown {
  const server = where(queueUrl)
  if (error instanceof SchemaMigrationRequiredError)
    return new RollcallError('NOT_MIGRATED', [
      `the queue's tables (schema ${QUEUE_SCHEMA}) are missing in ${server}${new URL(queueUrl).pathname}: run \`rollcall migrate\` with this QUEUE_URL, as a role that may create schemas`,
    ])
  const role = roleOf({ url: queueUrl, variable: 'QUEUE_URL' })
  const known = databaseError(error, { down: 'QUEUE_DOWN', role })
  if (!known) return error
  const code = known.code === 'DATABASE_REFUSED' ? 'QUEUE_REFUSED' : known.code
  return new RollcallError(
    code,
    known.details.map((line) => `${server}: ${line}`),
    { cause: error },
  )
}

/** The address without its credentials. */
function where(queueUrl: string): string {
  const { protocol, host } = new URL(queueUrl)
  return `${protocol}//${host}`
}
