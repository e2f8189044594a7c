import { assertSchemaCompatibility, createPostgresBackend, SchemaMigrationRequiredError } from 'bullmq'
import { Redis } from 'ioredis'
import pg from 'pg'
import { QUEUE_SCHEMA } from '../ledger/migrate.ts'
import { RollcallError } from '../model/errors.ts'

const CONNECT_TIMEOUT_MS = 5000

type BackendFactory = typeof createPostgresBackend | undefined

/** What BullMQ's classes are made with, and how to let go of it. */
export type QueueConnection = {
  /** For adding jobs: fails at once while the server is away, so that dispatch can say so and go on. */
  readonly producer: object
  /** For taking jobs: waits for the server to come back. */
  readonly consumer: object
  readonly factory: BackendFactory
  close(): Promise<void>
}

/**
 * Probes the server before any BullMQ object is made: with a Postgres backend a refused first connection is
 * remembered for ever and never reported, and an unmigrated schema spins the event loop.
 */
export function connectQueue(queueUrl: string, onError: (error: Error) => void): Promise<QueueConnection> {
  return /^postgres(ql)?:/.test(queueUrl) ? connectPostgres(queueUrl) : connectRedis(queueUrl, onError)
}

async function connectRedis(queueUrl: string, onError: (error: Error) => void): Promise<QueueConnection> {
  // BullMQ is tested with RESP2, ioredis 6 would speak RESP3.
  const common = { protocol: 2 as const, connectTimeout: CONNECT_TIMEOUT_MS, lazyConnect: true }
  const producer = new Redis(queueUrl, { ...common, enableOfflineQueue: false, maxRetriesPerRequest: null })
  producer.on('error', onError)
  try {
    await firstConnect(producer)
    await refuseEviction(producer)
  } catch (error) {
    producer.disconnect()
    throw error instanceof RollcallError
      ? error
      : new RollcallError('QUEUE_DOWN', [where(queueUrl), codeOf(error)])
  }
  const consumer = new Redis(queueUrl, { ...common, maxRetriesPerRequest: null })
  consumer.on('error', onError)
  return {
    producer,
    consumer,
    factory: undefined,
    async close() {
      producer.disconnect()
      consumer.disconnect()
    },
  }
}

/** ioredis tries again for ever; the very first connection is tried once, so that a wrong address is told. */
async function firstConnect(redis: Redis): Promise<void> {
  const failed = new Promise<never>((_, reject) => redis.once('error', reject))
  failed.catch(() => undefined)
  await Promise.race([redis.connect(), failed])
  await Promise.race([redis.ping(), failed])
}

/** A server that evicts keys throws away single parts of a queue, after which it stands still. */
async function refuseEviction(redis: Redis): Promise<void> {
  const memory = await redis.info('memory')
  const policy = /maxmemory_policy:(\S+)/.exec(memory)?.[1]
  if (policy && policy !== 'noeviction')
    throw new RollcallError('QUEUE_UNFIT', [`maxmemory-policy is ${policy}`])
}

async function connectPostgres(queueUrl: string): Promise<QueueConnection> {
  const client = new pg.Client({ connectionString: queueUrl, connectionTimeoutMillis: CONNECT_TIMEOUT_MS })
  try {
    await client.connect()
    await assertSchemaCompatibility(client, QUEUE_SCHEMA)
  } catch (error) {
    if (error instanceof SchemaMigrationRequiredError) {
      throw new RollcallError('NOT_MIGRATED', [`the queue's tables (schema ${QUEUE_SCHEMA}) are missing`])
    }
    throw new RollcallError('QUEUE_DOWN', [where(queueUrl), codeOf(error)])
  } finally {
    await client.end().catch(() => undefined)
  }
  // The planner falls back to scanning the whole table while a young queue has no statistics.
  const options = '-c enable_seqscan=off'
  const pool = (max: number) => ({
    connectionString: queueUrl,
    schema: QUEUE_SCHEMA,
    max,
    options,
    keepAlive: true,
  })
  return { producer: pool(2), consumer: pool(8), factory: createPostgresBackend, async close() {} }
}

/** The address without its credentials. */
function where(queueUrl: string): string {
  const { protocol, host } = new URL(queueUrl)
  return `${protocol}//${host}`
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : 'no answer'
}
