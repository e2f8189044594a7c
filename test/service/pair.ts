import { beforeEach, expect } from 'vitest'
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/server.ts'
import { type ChatClient, makeChatClient } from '../../src/service/chat-client.ts'
import type { Reply } from '../../src/service/client.ts'
import type { CallError, CallErrorKind, Reached } from '../../src/service/errors.ts'
import { makeUsersClient, type UsersClient, type UsersClientOptions } from '../../src/service/users.ts'
import { ofFile } from '../support/of-file.ts'

export const KEYS = { apiKey: 'api-key-of-the-test', secretKey: 'secret-key-of-the-test' }

export type Pair = AsyncDisposable & {
  readonly sandbox: Sandbox
  readonly client: UsersClient
  /** A chat client that carries a token of this registered user. */
  chatOf(userId: string): Promise<ChatClient>
}

type Settings = { readonly client?: Partial<UsersClientOptions>; readonly sandbox?: Partial<SandboxOptions> }

/** A client and the sandbox that it calls, over real HTTP. */
export async function startPair({ client = {}, sandbox: options = {} }: Settings = {}): Promise<Pair> {
  const sandbox = await startSandbox({ ...KEYS, ...options })
  const users = makeClient({ origin: sandbox.url, ...client })
  const clients: { close(): Promise<void> }[] = [users]
  return {
    sandbox,
    client: users,
    async chatOf(userId) {
      const accessToken = await sandbox.issueToken(userId)
      const chat = makeChatClient({ ...DEFAULTS, apiKey: KEYS.apiKey, accessToken, origin: sandbox.url })
      clients.push(chat)
      return chat
    },
    async [Symbol.asyncDispose]() {
      for (const each of clients) await each.close()
      await sandbox.stop()
    },
  }
}

/** One for all tests of a file, empty before each. */
export function pairOfFile(): Pick<Pair, 'sandbox' | 'client'> {
  const pair = ofFile(() => startPair())
  beforeEach(() => {
    const { users, journal, faults } = pair.sandbox
    for (const each of [users, journal, faults]) each.clear()
  })
  return pair
}

const DEFAULTS = { timeoutMs: 5000, concurrency: 10, allowPlainHttp: false }

export function makeClient(options: Partial<UsersClientOptions> & { readonly origin: string }): UsersClient {
  return makeUsersClient({ ...KEYS, ...DEFAULTS, ...options })
}

/** Waits for the call to fail in exactly this way. */
export async function expectCallError(
  call: Promise<Reply>,
  kind: CallErrorKind,
  reached: Reached,
): Promise<void> {
  const error: unknown = await call.then(
    (reply) => expect.fail(`was answered with ${reply.status}`),
    (thrown: unknown) => thrown,
  )
  expect(error).toMatchObject({ name: 'CallError', kind, reached } satisfies Partial<CallError>)
}
