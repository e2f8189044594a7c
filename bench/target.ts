// The service as a bare HTTP server in a process of its own: it keeps users, and tells what has arrived.
// Run by service.ts with its options as JSON.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TargetOptions } from './service.ts'

const { latencyMs = 0, allKnown = false }: TargetOptions = JSON.parse(process.argv[2] ?? '{}')
const users = new Map<string, object>()
/** When each user's first request arrived, in milliseconds since 1970. */
const arrived = new Map<string, number>()
let calls = 0

const server = createServer((request, response) => {
  const { method = 'GET', url = '/' } = request
  const answer = (status: number, body: unknown) => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  }
  if (url === '/counts') return answer(200, { users: users.size, calls })
  const [path = '', id = ''] = /^(.*\/)([^/]+)$/.exec(url)?.slice(1) ?? []
  if (path === '/arrived/') return answer(200, arrived.get(id) ?? null)
  const at = Date.now()
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    calls++
    const body = chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString()) : {}
    const userId = method === 'POST' ? body.user_id : decodeURIComponent(id)
    if (!arrived.has(userId)) arrived.set(userId, at)
    const known = users.get(userId) ?? (allKnown ? {} : undefined)
    if (method === 'POST' || method === 'PUT') users.set(userId, { user_id: userId, ...body })
    else if (method === 'PATCH' && known) users.set(userId, { ...known, ...body })
    const status = method === 'POST' ? 201 : known ? 200 : 404
    const say = () => answer(status, method === 'GET' && known ? known : {})
    if (latencyMs > 0) setTimeout(say, latencyMs)
    else say()
  })
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
process.on('disconnect', () => process.exit())
