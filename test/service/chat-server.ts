// A real HTTP server whose answers a test words itself: for answers that the sandbox never gives.
import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ChatClient, type ChatClientOptions, makeChatClient } from '../../src/service/chat-client.ts'

export const TOKENS = { apiKey: 'api-key-of-the-test', accessToken: 'eyJhbGciOiJub25lIn0.e30.c2ln' }

export type Worded = {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** As text it is sent as it is, anything else as JSON. */
  readonly body?: unknown
}
/** Undefined: never answered. */
type Answering = (url: URL, request: IncomingMessage) => Worded | undefined

export type ChatServer = AsyncDisposable & {
  readonly url: string
  readonly requests: readonly IncomingMessage[]
  answer: Answering
}

export async function startChatServer(answer: Answering = () => ({ body: [] })): Promise<ChatServer> {
  const requests: IncomingMessage[] = []
  const server = http.createServer((request, response) => {
    requests.push(request)
    const worded = running.answer(new URL(request.url ?? '', 'http://service.example'), request)
    if (worded === undefined) return
    const { status = 200, headers = {}, body = '' } = worded
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const running: ChatServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answer,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return running
}

export function makeChat(options: Partial<ChatClientOptions> & { readonly origin: string }): ChatClient {
  return makeChatClient({ ...TOKENS, timeoutMs: 5000, concurrency: 10, allowPlainHttp: false, ...options })
}
