import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import { isLocal } from '../config/address.ts'
import { RollcallError } from '../model/errors.ts'
import { whyNotListening } from '../model/listening.ts'
import type { Health, Readiness } from './health.ts'
import type { Log } from './log.ts'
import { CONTENT_TYPE } from './metrics.ts'
import { sleep } from './time.ts'

/** Outside of 9100 to 9999, every one of which is some exporter's, and of the ports that systems hand out. */
const PORT = 10_464
const HOST = '127.0.0.1'

export type OpsAddress = {
  readonly host: string
  readonly port: number
  /** This port was not asked for. */
  readonly byDefault: boolean
}

type OpsEnv = { readonly OPS_HOST?: string; readonly OPS_PORT?: string }

/** Where the ops port listens, by OPS_HOST and OPS_PORT as `readEnv` has checked them; null: nowhere. */
export function opsAddress({ OPS_HOST: host = HOST, OPS_PORT: port }: OpsEnv): OpsAddress | null {
  if (port === undefined) return { host, port: PORT, byDefault: true }
  return port === 'off' ? null : { host, port: Number(port), byDefault: false }
}

export type OpsOptions = Pick<OpsAddress, 'host' | 'port'> & {
  readonly health: () => Health
  readonly readiness: () => Promise<Readiness>
  readonly metrics: () => Promise<string>
  readonly log: Pick<Log, 'info' | 'warn'>
}

/** Nothing that is asked here has a body or a long head. A client that is slow to ask is cut off. */
const HEAD_BYTES = 8 * 1024
const REQUEST_MS = 5000
const CHECK_MS = 1000
const CLOSE_MS = 500
/** A flood of connections must not take the descriptors that calls need. */
const CONNECTIONS = 64

/**
 * /healthz, /readyz and /metrics. They tell counts, names of parts and sentences of our own, never what an error said.
 *
 * @throws RollcallError OPS_PORT_TAKEN when the address cannot be had
 */
export async function startOps(options: OpsOptions) {
  const { host, port, log } = options
  const app = makeApp(options)
  app.server.maxConnections = CONNECTIONS
  try {
    await app.listen({ host, port })
  } catch (error) {
    await app.close()
    const why = whyNotListening(error)
    if (why === undefined) throw error
    throw new RollcallError('OPS_PORT_TAKEN', [`${bracketed(host)}:${port}: ${why}`], { cause: error })
  }
  const bound = app.server.address()
  const url = `http://${bracketed(host)}:${typeof bound === 'object' && bound ? bound.port : port}`
  log.info({ url }, 'health and metrics are at this address')
  if (!isLocal(host))
    log.warn(
      { host },
      'OPS_HOST is not loopback: other machines can read health and metrics (they contain no data of customers)',
    )
  return {
    /** With the port that it was given, for OPS_PORT=0. */
    url,
    /** Never takes longer than its deadline: clients that still ask are cut off. */
    async close() {
      const waited = new AbortController()
      await Promise.race([app.close(), sleep(CLOSE_MS, waited.signal)])
      waited.abort()
    },
  }
}

function makeApp({ health, readiness, metrics, log }: OpsOptions): FastifyInstance {
  const app = Fastify({
    forceCloseConnections: true,
    requestTimeout: REQUEST_MS,
    keepAliveTimeout: REQUEST_MS,
    http: { maxHeaderSize: HEAD_BYTES, headersTimeout: REQUEST_MS, connectionsCheckingInterval: CHECK_MS },
    frameworkErrors: (_error, _request, reply: FastifyReply) =>
      reply.code(400).send({ error: 'bad_request', message: 'The address cannot be read.' }),
  })
  // A body is never read.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _body, done) => done(null))
  app.addHook('onSend', async (_request, reply) => {
    reply.header('cache-control', 'no-store')
  })
  app.setNotFoundHandler((_request, reply) =>
    reply.code(404).send({
      error: 'not_found',
      message: 'This port answers GET /healthz, GET /readyz and GET /metrics only.',
    }),
  )
  app.setErrorHandler((error: { readonly name?: string; readonly statusCode?: number }, _request, reply) => {
    const status = error.statusCode !== undefined && error.statusCode < 500 ? error.statusCode : 500
    if (status < 500)
      return reply.code(status).send({ error: 'bad_request', message: 'The request cannot be read.' })
    log.warn({ error: error.name }, 'a request to the ops port failed')
    return reply.code(500).send({ error: 'broken', message: 'This answer failed; the log may say why.' })
  })
  app.get('/healthz', (_request, reply) => {
    const state = health()
    return reply.code(state.ok ? 200 : 503).send(state)
  })
  app.get('/readyz', async (_request, reply) => {
    const state = await readiness()
    return reply.code(state.ready ? 200 : 503).send(state)
  })
  app.get('/metrics', async (_request, reply) => reply.type(CONTENT_TYPE).send(await metrics()))
  return app
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
