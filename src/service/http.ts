// One HTTP call to the service, with got: never a retry, never a redirect, bound in time and in size.
import http, { type ClientRequest } from 'node:http'
import https from 'node:https'
import type { Socket } from 'node:net'
import got, { RequestError, TimeoutError } from 'got'
import { refusePlainHttp } from './address.ts'
import type { ClientOptions, Reply } from './client.ts'
import { CallError, type CallFacts, classifyFailure, type Stop } from './errors.ts'
import { readBody } from './json.ts'

/** The largest answer that is read unless said otherwise. A user is a few hundred bytes. */
export const MAX_ANSWER_BYTES = 1024 * 1024

/**
 * An idle socket is given up before a server would give it up (5 s is the shortest customary time): a request
 * on a socket that is just being closed fails with an unknown outcome, and costs far more than a connection.
 */
const IDLE_SOCKET_MS = 4000

type HttpOptions = ClientOptions & {
  /** Beside those that every call has. */
  readonly headers: Readonly<Record<string, string>>
  /** Default MAX_ANSWER_BYTES; a larger answer is a CallError `too-large`. */
  readonly maxAnswerBytes?: number
}

type HttpCall = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH'
  readonly path: string
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
}

/** Throws RollcallError SERVICE_INSECURE at once. */
export function makeHttp(options: HttpOptions) {
  const { origin, timeoutMs, now = Date.now, maxAnswerBytes = MAX_ANSWER_BYTES } = options
  if (!options.allowPlainHttp) refusePlainHttp(origin)
  const headers = { accept: 'application/json', 'api-key': options.apiKey, ...options.headers }
  const secure = origin.startsWith('https:')
  const agent = makeAgents(options.concurrency)
  const client = makeGot(agent, headers, timeoutMs)
  const running = new Set<(stop: Stop) => void>()
  let closed = false

  /** Resolves to any HTTP answer, whatever its status; rejects with a CallError when there was none. */
  async function call({ method, path, body, signal }: HttpCall): Promise<Reply> {
    if (closed || signal?.aborted === true) throw new CallError('aborted', 'no')
    const controller = new AbortController()
    let stopped: Stop | null = null
    let connected = false
    const stop = (why: Stop) => {
      stopped ??= why
      controller.abort()
    }
    const onAbort = () => stop('aborted')
    // Beside got's own limit, which is reckoned on the wall clock: code that relies on nothing being sent after
    // the timeout must not depend on a clock that can be set back.
    const deadline = setTimeout(() => stop('timeout'), timeoutMs)
    signal?.addEventListener('abort', onAbort, { once: true })
    running.add(stop)
    const startedAt = performance.now()
    const startedWall = now()
    // After a suspension what has connected meanwhile is called before any timer is: the request would go out late.
    const isLate = () => Math.max(performance.now() - startedAt, now() - startedWall) > timeoutMs
    try {
      const request = client(new URL(origin + path), {
        method,
        signal: controller.signal,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      request.on('request', (outgoing: ClientRequest) => {
        unlessLate(outgoing, isLate, () => stop('timeout'))
        whenConnected(outgoing, secure, () => {
          connected = true
        })
        outgoing.once('upgrade', (_answer, socket: Socket) => {
          socket.destroy()
          stop('broken-response')
        })
      })
      request.on('downloadProgress', ({ transferred, total }) => {
        if (Math.max(transferred, total ?? 0) > maxAnswerBytes) stop('too-large')
      })
      const { statusCode: status, headers: given, rawBody } = await request
      const durationMs = performance.now() - startedAt
      const retryAfterMs = parseRetryAfter(given['retry-after'], { date: given.date, now: now() })
      const later = retryAfterMs === undefined ? {} : { retryAfterMs }
      return { status, body: readBody(rawBody), durationMs, ...later }
    } catch (error) {
      const facts = { stop: stopped, connected, ...readError(error) }
      const { kind, reached } = classifyFailure(facts)
      // No cause: got's error carries the headers, and with them the keys.
      throw new CallError(kind, reached, facts.code)
    } finally {
      clearTimeout(deadline)
      signal?.removeEventListener('abort', onAbort)
      running.delete(stop)
    }
  }

  return {
    call,
    /** Ends running calls as `aborted` and closes all sockets; later calls are `aborted`, not sent. */
    async close() {
      closed = true
      for (const stop of running) stop('aborted')
      agent.http.destroy()
      agent.https.destroy()
    },
  }
}

/** Only its own proxy settings count for an agent, and it has none: those of the environment do not. */
function makeAgents(most: number) {
  const options = { keepAlive: true, maxSockets: most, maxFreeSockets: most, timeout: IDLE_SOCKET_MS }
  return { http: new http.Agent(options), https: new https.Agent(options) }
}

function makeGot(agent: ReturnType<typeof makeAgents>, headers: HttpOptions['headers'], timeoutMs: number) {
  // A connection that takes half of the whole time is given up: then it is certain that nothing was sent.
  const connectMs = Math.ceil(timeoutMs / 2)
  return got.extend({
    agent,
    headers: { ...headers, 'user-agent': 'rollcall', 'accept-encoding': 'identity' },
    retry: { limit: 0 },
    throwHttpErrors: false,
    followRedirect: false,
    // Nothing compressed is asked for or unpacked, so the size limit counts what is held in memory.
    decompress: false,
    responseType: 'buffer',
    timeout: { lookup: connectMs, connect: connectMs, secureConnect: connectMs, request: timeoutMs },
  })
}

/** Nothing of a request is sent before its socket is connected; the process may be suspended anywhere in between. */
function unlessLate(request: ClientRequest, isLate: () => boolean, stop: () => void): void {
  request.once('socket', (socket: Socket) => {
    const stopIfLate = () => {
      if (!isLate()) return
      socket.destroy()
      stop()
    }
    stopIfLate()
    if (socket.connecting) socket.prependOnceListener('connect', stopIfLate)
  })
}

/**
 * Tells when the request has a connection that could carry it. A socket that was connected before it was
 * handed over counts at once, even in the middle of its handshake: when in doubt, something may have been sent.
 */
function whenConnected(request: ClientRequest, secure: boolean, then: () => void): void {
  request.once('socket', (socket: Socket) => {
    if (request.reusedSocket || !socket.connecting) then()
    else socket.once(secure ? 'secureConnect' : 'connect', then)
  })
}

function readError(error: unknown): Pick<CallFacts, 'code' | 'phase'> {
  if (error instanceof TimeoutError) return { code: null, phase: error.event }
  if (error instanceof RequestError) return { code: error.code, phase: null }
  return { code: null, phase: null }
}

/** No answer of the service may keep us away for longer than this; the next one may say so again. */
export const RETRY_AFTER_CAP_MS = 3_600_000

/**
 * Retry-After in milliseconds from receipt: seconds, or the date that servers send (RFC 9110, 10.2.3; the interface
 * document says nothing of it). A date that has passed is 0. Undefined when there is none or it cannot be read:
 * `Date.parse` alone would take "2" for a month. `date` is the answer's own Date header, because the clock that wrote a
 * date measures the wait until it; `now` is ours, in milliseconds since 1970, for an answer without one.
 */
export function parseRetryAfter(
  header: string | undefined,
  { date, now }: { readonly date: string | undefined; readonly now: number },
): number | undefined {
  const text = header?.trim()
  if (text === undefined || text === '') return undefined
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, RETRY_AFTER_CAP_MS)
  const until = parseHttpDate(text)
  if (until === undefined) return undefined
  const from = (date === undefined ? undefined : parseHttpDate(date.trim())) ?? now
  return Math.min(Math.max(until - from, 0), RETRY_AFTER_CAP_MS)
}

function parseHttpDate(text: string): number | undefined {
  const time = Date.parse(text)
  return Number.isFinite(time) && new Date(time).toUTCString() === text ? time : undefined
}
