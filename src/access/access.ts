// `rollcall access`: puts together what the customer data, the service, the chat and rollcall's tables say.
import type { CustomersShape } from '../customers/describe.ts'
import type { CustomerKey } from '../model/customer.ts'
import { makeChatClient } from '../service/chat-client.ts'
import { askChat, type Chat, mayAskChat } from './chat.ts'
import { type CustomerAccess, judged, type LookedAt, lookAt } from './customer.ts'
import type { Gate, Silence } from './look.ts'
import { openParts, type PartsOptions } from './open.ts'
import { bearersOf, type Claims, readClaims } from './token.ts'

export type Access = {
  readonly shape: CustomersShape
  readonly warnings: readonly string[]
  /** What the token says of itself; null without one. */
  readonly claims: Claims | null
  /** Each customer once, in order. With a token nobody comes before all were looked at and the chat has answered. */
  ask(keys: readonly CustomerKey[]): AsyncIterable<CustomerAccess>
  /** The chat's answer, asked for once. */
  chat(): Promise<Chat>
  close(): Promise<void>
}

export type AccessOptions = PartsOptions & { readonly token: string | undefined }

/**
 * Opens what the question needs. Throws a RollcallError when the customers cannot be read; everything else that is
 * missing is part of the answer. The chat is asked after the users' GETs: it is the smaller question, and what it
 * answers (429, 503) must not keep the larger one from being asked.
 */
export async function openAccess(options: AccessOptions): Promise<Access> {
  const { config, token } = options
  const claims = token === undefined ? null : readClaims(token)
  const { parts, shape, warnings, close } = await openParts(options)
  const { consistencyDelayMs } = config.timing
  let asked: Promise<Chat> | undefined
  const chat = () => {
    asked ??= chatFor(options, parts)
    return asked
  }

  async function* ask(keys: readonly CustomerKey[]): AsyncGenerator<CustomerAccess> {
    const all: LookedAt[] = []
    for (const key of new Set(keys)) {
      const looked = await lookAt(key, parts)
      if (claims !== null) all.push(looked)
      else yield judged(looked, { chat: await chat(), bearer: null, consistencyDelayMs })
    }
    if (claims === null) return
    const answer = await chat()
    const userIds = all.map(({ userId }) => userId)
    const bearers = bearersOf(claims, userIds)
    for (const [at, looked] of all.entries())
      yield judged(looked, { chat: answer, bearer: bearers[at] ?? 'unsaid', consistencyDelayMs })
  }
  return { shape, warnings, claims, ask, chat, close }
}

type Asking = { readonly gate: Gate; readonly silence: Silence }

/** Its Retry-After binds nobody: the chat is the end users', and what it cannot bear says nothing of the users' part. */
async function chatFor(options: AccessOptions, { gate, silence }: Asking): Promise<Chat> {
  const { config, service, token, stop } = options
  if (token === undefined) return { kind: 'not-asked', why: 'no-token' }
  if (!mayAskChat(service.origin, config.service.environment)) return { kind: 'not-asked', why: 'demo' }
  if (silence.lasts()) return { kind: 'given-up' }
  const { origin, apiKey } = service
  const { timeoutMs, allowPlainHttp } = config.service
  const client = makeChatClient({
    origin,
    apiKey,
    accessToken: token,
    timeoutMs,
    allowPlainHttp,
    concurrency: 1,
  })
  try {
    if (!(await gate.pass())) return { kind: 'no-permit', waitMs: await gate.heldForMs() }
    const chat = await askChat(client, stop)
    stop.throwIfAborted()
    return chat
  } finally {
    await client.close()
  }
}
