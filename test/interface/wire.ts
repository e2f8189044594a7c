// Requests as they arrive, and answers that the sandbox never gives: both by a server of our own.
import { expect } from 'vitest'
import type { ChatClient } from '../../src/service/chat-client.ts'
import type { List } from '../../src/service/chat-read.ts'
import type { UsersClient } from '../../src/service/users.ts'
import { makeChat, startChatServer } from '../service/chat-server.ts'
import { makeClient } from '../service/pair.ts'
import type { Scene } from './support.ts'

export type Send = (clients: { readonly users: UsersClient; readonly chat: ChatClient }) => Promise<unknown>
type Arrived = {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, unknown>>
  readonly hasBody: boolean
}

export async function arriving(send: Send): Promise<readonly Arrived[]> {
  await using server = await startChatServer()
  const users = makeClient({ origin: server.url })
  const chat = makeChat({ origin: server.url })
  await send({ users, chat })
  await users.close()
  await chat.close()
  return server.requests.map(({ method = '', url = '', headers }) => {
    const hasBody = 'content-length' in headers || 'transfer-encoding' in headers
    return { method, url, headers, hasBody }
  })
}

export async function readAs<Item>(
  body: unknown,
  read: (chat: ChatClient) => Promise<List<Item>>,
): Promise<List<Item>> {
  await using server = await startChatServer(() => ({ body }))
  const chat = makeChat({ origin: server.url })
  try {
    return await read(chat)
  } finally {
    await chat.close()
  }
}

type Wanted = {
  /** As the section has them. */
  readonly headers: Readonly<Record<string, string>>
  /** Where the sandbox has something to answer; default: where the call went. */
  readonly path?: string
  readonly body?: object
}

/** The client's call arrives with these headers, and the sandbox refuses the same call without any one of them. */
export async function expectHeaders(
  scene: Scene,
  send: Send,
  { headers, path, body }: Wanted,
): Promise<void> {
  const [{ method, url, headers: arrived } = expect.fail('nothing came')] = await arriving(send)
  const asIs = Object.entries(headers).filter(([, value]) => value === 'application/json')
  expect(arrived).toMatchObject(Object.fromEntries(asIs.map(([name, value]) => [name.toLowerCase(), value])))
  const status = async (sent: Readonly<Record<string, string>>) =>
    (await scene.ask(path ?? url, { method, headers: sent, body })).status
  expect(await status(headers)).toBeLessThan(300)
  for (const name of ['Api-Key', 'Secret-Key', 'Authorization'].filter((each) => each in headers)) {
    expect(arrived[name.toLowerCase()]).toMatch(name === 'Authorization' ? /^Bearer [^ ]+$/ : /./)
    const { [name]: _left, ...others } = headers
    expect([name, await status(others)]).toEqual([name, 401])
  }
  if (body !== undefined) expect(await status({ ...headers, 'Content-Type': 'text/plain' })).toBe(400)
}
