// The stage of the tests by section: the sandbox, rollcall's clients before it, and fetch where the wire form itself
// is the fact.
import { afterAll, beforeEach, expect, onTestFinished, vi } from 'vitest'
import { choicesOf, type Dimension } from '../../src/sandbox/contract/contract.ts'
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts'
import type { ChatClient } from '../../src/service/chat-client.ts'
import type { Professional } from '../../src/service/chat-read.ts'
import type { UsersClient } from '../../src/service/users.ts'
import { type Called, callService } from '../../src/sync/call.ts'
import type { Call } from '../../src/sync/plan.ts'
import { makeChat } from '../service/chat-server.ts'
import { KEYS, makeClient } from '../service/pair.ts'
import { makeDrafts } from '../support/drafts.ts'
import { FULL } from '../support/presets.ts'

/** A registered user with full access, and a professional of the sandbox that all users see. */
export const USER = 'user-1'
export const LAWYER = 'pro-generalist-1'

export const S2S = {
  'Api-Key': KEYS.apiKey,
  'Secret-Key': KEYS.secretKey,
  'Content-Type': 'application/json',
  Accept: 'application/json',
}

/** Every field of section 2.6 but user_id, as in the document's sample of a PUT. */
export const ALL = {
  ...FULL,
  status: 2,
  email: 'ana@example.com',
  mobile_phone: '612345678',
  coverage_name: 'home',
  description: null,
} as const

export type Asking = {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}
export type Asked = { readonly status: number; readonly json: unknown; readonly type: string | null }

export type BothForms = { readonly wire: Record<string, unknown>; readonly read: Professional }

export type Scene = {
  readonly sandbox: Sandbox
  readonly users: UsersClient
  /** A plain request; with the server-to-server headers unless others are given. */
  ask(path: string, asking?: Asking): Promise<Asked>
  askAs(userId: string, path: string): Promise<readonly Record<string, unknown>[]>
  chatHeaders(userId: string): Promise<Record<string, string>>
  chatAs(userId: string): Promise<ChatClient>
  /** Makes a conversation of so many messages of every type, and resolves to its room's id. */
  fill(messages: number, userId?: string, professionalId?: string): number
  /** The professionals that USER sees, as they go over the wire and as the client reads them. */
  professionals(): Promise<readonly BothForms[]>
  /** From now on the sandbox answers so; what is not named is as documented. */
  become(contract: object): Promise<void>
  /** One call as rollcall makes it, and what its answer means to it. */
  call(userId: string, call: Call): Promise<Called>
}

/** One sandbox for a test file; every test begins with it empty but for USER, and with the documented contract. */
export async function openScene(): Promise<Scene> {
  const sandbox = await startSandbox(KEYS)
  const users = makeClient({ origin: sandbox.url })
  const closing = [sandbox.stop, users.close]
  afterAll(async () => {
    for (const close of closing.reverse()) await close()
  })

  async function ask(path: string, { method = 'GET', headers = S2S, body }: Asking = {}): Promise<Asked> {
    const sent = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
    const response = await fetch(sandbox.url + path, { method, headers, body: sent ?? null })
    const text = await response.text()
    const type = response.headers.get('content-type')
    return { status: response.status, json: type?.includes('json') ? JSON.parse(text) : text, type }
  }
  beforeEach(async () => {
    expect(await ask('/_sandbox/', { method: 'DELETE' })).toMatchObject({ status: 204 })
    sandbox.contract.set({})
    expect((await users.createUser({ user_id: USER, status: 2 })).status).toBe(201)
  })

  async function chatHeaders(userId: string): Promise<Record<string, string>> {
    const { json } = await ask('/_sandbox/tokens', { method: 'POST', body: { user_id: userId } })
    const { token } = json as { readonly token: string }
    return { 'Api-Key': KEYS.apiKey, Authorization: `Bearer ${token}`, Accept: 'application/json' }
  }
  async function askAs(userId: string, path: string): Promise<readonly Record<string, unknown>[]> {
    const { status, json } = await ask(path, { headers: await chatHeaders(userId) })
    expect([path, status]).toEqual([path, 200])
    return json as Record<string, unknown>[]
  }
  async function chatAs(userId: string): Promise<ChatClient> {
    const { Authorization = '' } = await chatHeaders(userId)
    const accessToken = Authorization.replace('Bearer ', '')
    const chat = makeChat({ origin: sandbox.url, apiKey: KEYS.apiKey, accessToken })
    closing.push(chat.close)
    return chat
  }
  return {
    sandbox,
    users,
    ask,
    chatHeaders,
    askAs,
    chatAs,
    async professionals() {
      const wire = await askAs(USER, '/chat/professionals')
      const { items, unreadable } = await (await chatAs(USER)).listProfessionals()
      expect([items.length, unreadable]).toEqual([wire.length, 0])
      return items.map((read, index) => ({ wire: wire[index] ?? {}, read }))
    },
    async become(contract) {
      expect(await ask('/_sandbox/contract', { method: 'PUT', body: contract })).toMatchObject({
        status: 200,
      })
    },
    fill(messages, userId = USER, professionalId = LAWYER) {
      const drafts = makeDrafts(messages, sandbox.clock.now())
      return sandbox.conversations.add({ userId, professionalId }, drafts).room.id
    },
    call(userId, call) {
      return callService(users, { call, userId, signal: new AbortController().signal })
    },
  }
}

/** Every value that a dimension of the contract can take. */
export function choices(dimension: Dimension): readonly (string | number)[] {
  return choicesOf(dimension) ?? expect.fail(`${dimension} is no choice`)
}

/** For the rest of the test, this machine's local time is Madrid's. */
export function inMadrid(): void {
  vi.stubEnv('TZ', 'Europe/Madrid')
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })
  expect(new Date('2026-07-01T00:00:00').toISOString()).toBe('2026-06-30T22:00:00.000Z')
}
