// A gate before a service that tells everything it was sent: in bodies, in keys, in HTML, in headers, in the status line.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

type Request = {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}
type Answer = {
  readonly status: number
  readonly headers?: Record<string, string>
  readonly body: string
  readonly phrase?: string
}
/** `carry`: passes the request on to the service behind and gives its answer. */
type Way = (request: Request, carry: () => Promise<Answer>) => Promise<Answer | 'cut' | 'hang'>

const JSON_TYPE = { 'content-type': 'application/json' }
const HTML = { 'content-type': 'text/html' }
const json = (status: number, body: unknown): Answer => ({
  status,
  headers: JSON_TYPE,
  body: JSON.stringify(body),
})
const html = (status: number, { body, path }: Request): Answer => ({
  status,
  headers: HTML,
  body: `<html><title>${path}</title><pre>${body}</pre></html>`,
})
const valuesOf = ({ body }: Request): readonly string[] =>
  body === '' ? [] : Object.values(JSON.parse(body) as Record<string, unknown>).map(String)
/** A header or the status line holds no control characters. */
const inOneLine = (request: Request) =>
  valuesOf(request)
    .join(' ')
    .replaceAll(/[^\x20-\x7e]/g, '?')

/** A customer's ways are named in its `user_id`; all but `always` strike a few times, and are then done. */
const WAYS: Readonly<Record<string, Way>> = {
  'echo-fields': async (request) =>
    json(422, {
      errors: valuesOf(request).map((value) => ({ field: 'email', message: `bad: ${value}`, value })),
    }),
  'echo-keys': async (request) =>
    json(400, { errors: Object.fromEntries(valuesOf(request).map((value) => [value, 'is not valid'])) }),
  'echo-text': async (request) => json(409, request.body),
  'echo-denied': async (request) => json(403, { message: `not for ${request.body}` }),
  'echo-unknown-user': async (request) =>
    json(404, { message: `nobody is ${request.path}`, got: request.body }),
  'echo-html': async (request) => html(400, request),
  'echo-proxy': async (request, carry) => {
    await carry()
    return html(502, request)
  },
  'echo-success': async (request, carry) => {
    await carry()
    return html(200, request)
  },
  'echo-error-in-success': async (request) => json(200, { success: false, error: { detail: request.body } }),
  'echo-headers': async (request) => ({
    ...json(503, {}),
    headers: { ...JSON_TYPE, 'retry-after': inOneLine(request), 'x-request': inOneLine(request) },
    phrase: inOneLine(request),
  }),
  'echo-redirect': async (request) => ({
    status: 307,
    headers: { location: `/elsewhere?${encodeURIComponent(request.body)}` },
    body: '',
  }),
  'echo-broken': async (request) => ({ status: 200, headers: JSON_TYPE, body: `{"user": ${request.body}` }),
  'echo-large': async (request) => json(500, request.body.repeat(5000)),
  cut: async (_request, carry) => {
    await carry()
    return 'cut'
  },
  hang: async (_request, carry) => {
    await carry()
    return 'hang'
  },
  always: async (request) => json(422, { message: request.body }),
}
export const WAY_NAMES = Object.keys(WAYS)

export type Echoing = AsyncDisposable & {
  readonly url: string
  /** To where requests are passed on. */
  behind: string
  /** How often each way was gone. */
  readonly struck: ReadonlyMap<string, number>
}

export async function startEchoing(times: number): Promise<Echoing> {
  const struck = new Map<string, number>()
  const perUser = new Map<string, number>()
  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing).catch(() => outgoing.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const echoing = {
    url: `http://127.0.0.1:${port}`,
    behind: '',
    struck,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const chunks: Uint8Array[] = []
    for await (const chunk of incoming) chunks.push(chunk as Uint8Array)
    const request = {
      method: incoming.method ?? '',
      path: incoming.url ?? '',
      headers: incoming.headers,
      body: Buffer.concat(chunks).toString(),
    }
    const name = wayOf(request, perUser, times)
    if (name !== null) struck.set(name, (struck.get(name) ?? 0) + 1)
    const way = name === null ? null : WAYS[name]
    const given = way ? await way(request, () => carry(request)) : await carry(request)
    if (given === 'hang') return
    if (given === 'cut') return void outgoing.destroy()
    outgoing.writeHead(given.status, given.phrase ?? '', given.headers ?? {}).end(given.body)
  }

  async function carry({ method, path, headers, body }: Request): Promise<Answer> {
    const { 'api-key': apiKey, 'secret-key': secretKey } = headers
    const response = await fetch(echoing.behind + path, {
      method,
      headers: { ...JSON_TYPE, 'Api-Key': String(apiKey), 'Secret-Key': String(secretKey) },
      ...(body === '' ? {} : { body }),
    })
    return { status: response.status, headers: JSON_TYPE, body: await response.text() }
  }
  return echoing
}

/** Writes only: a GET has nothing to report that it was not sent. */
function wayOf({ method, path, body }: Request, perUser: Map<string, number>, times: number): string | null {
  if (method === 'GET') return null
  const userId = decodeURIComponent(path) + body
  const name = WAY_NAMES.find((way) => userId.includes(`.${way}.`))
  if (name === undefined) return null
  const user = /[\w-]+\.[\w-]+\.\d+/.exec(userId)?.[0] ?? ''
  const so = perUser.get(user) ?? 0
  perUser.set(user, so + 1)
  return name === 'always' || so < times ? name : null
}
