// `rollcall access`: puts together what the customer data, the service, the chat and rollcall's tables say.
import type { Pool } from 'pg'
import type { Config } from '../config/config.ts'
import { describeCustomers } from '../customers/describe.ts'
import { makeReadClaimants, NEVER_SETTLED } from '../ledger/record.ts'
import type { CustomerKey } from '../model/customer.ts'
import { userIdOf } from '../model/mapped.ts'
import { makeChatClient } from '../service/chat-client.ts'
import type { UsersClient } from '../service/client.ts'
import { makeUsersClient } from '../service/users.ts'
import { forCustomer, makeDigester } from '../sync/digest.ts'
import { isFullyManaged } from '../sync/map.ts'
import { findRivals } from '../sync/rivals.ts'
import { askChat, type Chat, chatSays, mayAskChat } from './chat.ts'
import { findTables, type Knowledge, type OpenKnowledge, openKnowledge } from './knowledge.ts'
import { type Gate, hasPace, lookFor, makeGate, OPEN_GATE } from './look.ts'
import { agreedStatus, type Cure, cureFor, type Next, nextStep, type Seen } from './next.ts'
import { makeReadRow, type ReadRow, readSubject, refusalOf, type Should, type Subject } from './should.ts'
import { type Bearer, bearerOf, type Claims, readClaims } from './token.ts'
import { judge, type Look, type Verdict } from './verdict.ts'

/** Everything about one customer; no field's value but user_id and status. */
export type CustomerAccess = {
  readonly key: CustomerKey
  readonly userId: string | null
  readonly should: Should
  readonly look: Look
  readonly knowledge: Knowledge
  readonly next: Next
  readonly cure: Cure | null
  /** Whose token it is; null without one. */
  readonly bearer: Bearer | null
  readonly verdict: Verdict
}

export type Access = {
  readonly warnings: readonly string[]
  /** The chat's answer, asked for once. */
  readonly chat: Chat
  /** What the token says of itself; null without one. */
  readonly claims: Claims | null
  of(key: CustomerKey): Promise<CustomerAccess>
  close(): Promise<void>
}

export type AccessOptions = {
  readonly pool: Pool
  readonly config: Config
  readonly service: { readonly origin: string; readonly apiKey: string; readonly secretKey: string }
  readonly digestKey: string | undefined
  readonly token: string | undefined
  readonly stop: AbortSignal
}

/**
 * Opens what the question needs and asks the chat, whose answer is the same for all customers. Throws a
 * RollcallError when the customers cannot be read; everything else that is missing is part of the answer.
 */
export async function openAccess(options: AccessOptions): Promise<Access> {
  const { pool, config, service, digestKey, token, stop } = options
  const { timeoutMs, allowPlainHttp } = config.service
  const users = makeUsersClient({ ...service, timeoutMs, allowPlainHttp, concurrency: 1 })
  try {
    const shape = await describeCustomers(pool, config)
    const tables = await findTables(pool)
    const knowledge = await openKnowledge(pool, tables, { ...service, digestKey })
    const paced = tables.pace && knowledge.about === 'known' && (await hasPace(pool))
    const gate = paced ? makeGate({ pool, stop }) : OPEN_GATE
    const claims = token === undefined ? null : readClaims(token)
    const chat = await chatFor(options, gate)
    const readRow = makeReadRow(pool, config, shape)
    const of = (key: CustomerKey) =>
      accessOf(key, { ...options, readRow, knowledge, gate, users, chat, claims })
    return { warnings: shape.warnings, chat, claims, of, close: () => users.close() }
  } catch (error) {
    await users.close()
    throw error
  }
}

async function chatFor({ config, service, token, stop }: AccessOptions, gate: Gate): Promise<Chat> {
  if (token === undefined) return { kind: 'not-asked', why: 'no-token' }
  if (!mayAskChat(service.origin, config.service.environment)) return { kind: 'not-asked', why: 'demo' }
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
    if (!(await gate.pass())) return { kind: 'no-permit' }
    const { chat, retryAfterMs } = await askChat(client, stop)
    await gate.holdOff(retryAfterMs)
    return chat
  } finally {
    await client.close()
  }
}

type Parts = AccessOptions & {
  readonly readRow: ReadRow
  readonly knowledge: OpenKnowledge
  readonly gate: Gate
  readonly users: UsersClient
  readonly chat: Chat
  readonly claims: Claims | null
}

async function accessOf(key: CustomerKey, parts: Parts): Promise<CustomerAccess> {
  const { config, gate, users, stop, chat, claims } = parts
  const subject = await readSubject(config, key, parts.readRow)
  const { mapped, should } = subject
  const userId = userIdOf(mapped)
  const { look, seen } = await lookFor(userId, { users, gate, signal: stop })
  // After the GET, so that what is owed is not older than what it showed.
  const knowledge = await parts.knowledge.read(key)
  const next = await nextFor(key, { ...parts, subject, seen, standing: knowledge })
  const bearer = claims === null ? null : bearerOf(claims, userId)
  const known = knowledge.kind === 'known' ? knowledge : UNKNOWN
  const { recorded } = known
  const agreed = agreedStatus(known, userId)
  const verdict = judge({ should, look, recorded, agreed, chat: chatSays(chat, bearer ?? 'unsaid') })
  const cure = cureFor(next, knowledge, config.timing.consistencyDelayMs)
  return { key, userId, should, look, knowledge, next, cure, bearer, verdict }
}

/** As if rollcall had never met the customer. */
const UNKNOWN = { record: NEVER_SETTLED, owed: null, recorded: false }

/** Any key will do where nothing is compared with what another key has made. */
const NO_KEY = 'no digest key'

type Comparing = Parts & { readonly subject: Subject; readonly seen: Seen; readonly standing: Knowledge }

async function nextFor(key: CustomerKey, comparing: Comparing): Promise<Next> {
  const { config, digestKey, subject, seen, standing } = comparing
  const { mapped, should } = subject
  const rivals = should.kind === 'unreadable' ? null : await rivalsOf(key, comparing)
  if (rivals === null) return { kind: 'unsaid' }
  const digester = makeDigester(digestKey ?? NO_KEY)
  const { unmanaged, clearWith, onRemove } = config
  return nextStep({
    mapped,
    seen,
    known: standing.kind === 'known' ? standing : UNKNOWN,
    rivals,
    policy: { unmanaged, clearWith, onRemove, fullyManaged: isFullyManaged(config) },
    digests: forCustomer(digester, key),
    digestKey: digester.id,
  })
}

/** Null when one of those who may be rivals has a row that Postgres refuses to read. */
async function rivalsOf(key: CustomerKey, comparing: Comparing): Promise<readonly CustomerKey[] | null> {
  const { pool, config, readRow, subject, standing } = comparing
  const readClaimants = standing.kind === 'known' ? makeReadClaimants(pool) : async () => []
  try {
    return await findRivals({ config, readRow, readClaimants }, key, subject.mapped)
  } catch (error) {
    refusalOf(error)
    return null
  }
}
