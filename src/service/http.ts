// One HTTP call to the service, with undici: never a retry, never a redirect, bound in time and in size.
import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'
// Without the rest of undici, which would take as long to load as all of rollcall.
import Pool from 'undici/lib/dispatcher/pool.js'
import { refusePlainHttp } from './address.ts'
import type { ClientOptions, Reply } from './client.ts'
import { CallError, classifyFailure, type Stop } from './errors.ts'
import { readBody } from './json.ts'

/** The largest answer that is read unless said otherwise. A user is a few hundred bytes. */
export const MAX_ANSWER_BYTES = 1024 * 1024

/**
 * An idle socket is given up before a server would give it up (5 s is the shortest customary time): a request on a socket
 * that is just being closed fails with an unknown outcome, and costs far more than a connection.
 */
const IDLE_SOCKET_MS = 3000

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
  const { origin, apiKey, timeoutMs, now = Date.now, maxAnswerBytes = MAX_ANSWER_BYTES } = options
  if (!options.allowPlainHttp) refusePlainHttp(origin)
  const pool = makePool(options)
  const headers = {
    ...{ accept: 'application/json', 'api-key': apiKey, ...options.headers },
    ...{ 'user-agent': 'rollcall', 'accept-encoding': 'identity' },
  }
  const running = new Set<(why: Stop) => void>()
  let closed = false

  /** Resolves to any HTTP answer, whatever its status; rejects with a CallError when there was none. */
  async function call({ method, path, body, signal }: HttpCall): Promise<Reply> {
    if (closed || signal?.aborted === true) throw new CallError('aborted', 'no')
    const startedAt = performance.now()
    const startedWall = now()
    // After a suspension what has connected meanwhile is called before any timer is: the request would go out late.
    const isLate = () => Math.max(performance.now() - startedAt, now() - startedWall) > timeoutMs
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const { answer, stop } = send(pool, { method, path, headers, ...sent }, { isLate, maxAnswerBytes })
    const onAbort = () => stop('aborted')
    const deadline = setTimeout(() => stop('timeout'), timeoutMs)
    signal?.addEventListener('abort', onAbort, { once: true })
    running.add(stop)
    try {
      const { status, headers: given, bytes } = await answer
      const durationMs = performance.now() - startedAt
      const date = firstOf(given.date)
      const retryAfterMs = parseRetryAfter(firstOf(given['retry-after']), { date, now: now() })
      const later = retryAfterMs === undefined ? {} : { retryAfterMs }
      return { status, body: readBody(bytes), durationMs, ...later }
    } finally {
      clearTimeout(deadline)
      signal?.removeEventListener('abort', onAbort)
      running.delete(stop)
    }
  }

  return {
    call,
    /** Ends running calls as `aborted` and closes all connected sockets; later calls are `aborted`, not sent. */
    async close() {
      closed = true
      for (const stop of running) stop('aborted')
      await pool.destroy()
    },
  }
}

/** One request at a time on a socket. The deadline of a call is its only limit of time once it has a connection. */
function makePool({ origin, timeoutMs, concurrency }: ClientOptions): Pool {
  return new Pool(origin, {
    connections: concurrency,
    allowH2: false,
    pipelining: 1,
    // A connection that takes half of the whole time is given up (undici's timer may be a second late): then it is certain
    // that nothing was sent.
    connect: { timeout: Math.ceil(timeoutMs / 2) },
    keepAliveTimeout: IDLE_SOCKET_MS,
    keepAliveMaxTimeout: IDLE_SOCKET_MS,
    headersTimeout: 0,
    bodyTimeout: 0,
  })
}

/** undici has a header that was sent several times as a list, whatever the type says. */
function firstOf(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'object' ? header[0] : header
}

type Answer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly bytes: Buffer }
type Limits = { readonly isLate: () => boolean; readonly maxAnswerBytes: number }

/** Sends one request. Its answer rejects with a CallError, at once if the request is stopped. */
function send(pool: Pool, request: Dispatcher.DispatchOptions, { isLate, maxAnswerBytes }: Limits) {
  const { promise: answer, resolve, reject } = Promise.withResolvers<Answer>()
  let controller: Dispatcher.DispatchController | null = null
  let isOver = false
  let head: Omit<Answer, 'bytes'> | null = null
  const chunks: Buffer[] = []
  let size = 0

  function fail(stopped: Stop | null, code: string | null): void {
    isOver = true
    const { kind, reached } = classifyFailure({ stop: stopped, code, connected: controller !== null })
    // No cause: an error of the connection has its addresses.
    reject(new CallError(kind, reached, code))
  }

  function stop(why: Stop): void {
    if (!isOver) fail(why, null)
    controller?.abort(new Error(why))
  }

  pool.dispatch(request, {
    // Called when the request has a connection (for https: after its handshake), and before anything is written to it.
    onRequestStart(started) {
      if (!isOver && isLate()) fail('timeout', null)
      if (isOver || controller) started.abort(new Error('nothing is sent late or twice'))
      else controller = started
    },
    onResponseStart(_, status, headers) {
      if (status < 200) return // an informational answer, before the real one
      head = { status, headers }
      if (Number(headers['content-length']) > maxAnswerBytes) stop('too-large')
    },
    onResponseData(_, chunk) {
      size += chunk.length
      if (size > maxAnswerBytes) stop('too-large')
      else chunks.push(chunk)
    },
    onResponseEnd() {
      isOver = true
      if (head) resolve({ ...head, bytes: Buffer.concat(chunks) })
    },
    onResponseError(_, error) {
      // undici's error of an answer that is not HTTP has a code only sometimes.
      const { code = error.name } = error as Error & { readonly code?: string }
      if (!isOver) fail(null, code)
    },
  })
  return { answer, stop }
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
