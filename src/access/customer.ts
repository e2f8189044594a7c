// One customer: first everything but the chat, then, when the chat was asked, the verdict.
import type { Pool } from 'pg'
import type { Config } from '../config/config.ts'
import { makeReadClaimants, NEVER_SETTLED } from '../ledger/record.ts'
import type { CustomerKey } from '../model/customer.ts'
import { type FieldIssue, userIdOf } from '../model/mapped.ts'
import type { UsersClient } from '../service/client.ts'
import { forCustomer, makeDigester } from '../sync/digest.ts'
import { policyOf } from '../sync/policy.ts'
import { findRivals } from '../sync/rivals.ts'
import { type Chat, chatSays } from './chat.ts'
import { type Cure, curesFor } from './cure.ts'
import { isMet, type Knowledge, type OpenKnowledge } from './knowledge.ts'
import { leftOutOf } from './left-out.ts'
import { type Gate, lookFor, type Silence } from './look.ts'
import { type Asked, agreedStatus, type Next, nextStep } from './next.ts'
import { type ReadRow, readSubject, refusalOf, type Should, type Subject } from './should.ts'
import type { Bearer } from './token.ts'
import { type ChatSays, judge, type Look, type Verdict } from './verdict.ts'

/** What is known without the chat; no field's value but user_id and status. */
export type LookedAt = {
  readonly key: CustomerKey
  readonly userId: string | null
  readonly should: Should
  /** Fields that are not sent: what the mapping found wrong, and what the service refused. */
  readonly leftOut: readonly FieldIssue[]
  readonly look: Look
  readonly knowledge: Knowledge
  readonly next: Next
  /** Other customers in scope that are the same user, as far as rollcall has met them. */
  readonly rivals: readonly CustomerKey[]
}

export type CustomerAccess = LookedAt & {
  readonly cures: readonly Cure[]
  /** How the chat bears on this customer. */
  readonly chatSays: ChatSays
  /** Whose token it is; null without one. */
  readonly bearer: Bearer | null
  readonly verdict: Verdict
}

export type Parts = {
  readonly pool: Pool
  readonly config: Config
  readonly digestKey: string | undefined
  readonly readRow: ReadRow
  readonly knowledge: OpenKnowledge
  readonly gate: Gate
  readonly silence: Silence
  readonly users: UsersClient
  readonly stop: AbortSignal
}

/** What it was decided from; it holds the values of the row and of the GET, and nobody prints it as it is. */
export type Evidence = Omit<Asked, 'rivals'> & {
  /** Null when the row of one of those who may be rivals cannot be read. */
  readonly rivals: readonly CustomerKey[] | null
}

/** One GET. Throws when the database is away, or the command is to stop. */
export async function lookAt(key: CustomerKey, parts: Parts): Promise<LookedAt> {
  return (await gather(key, parts)).looked
}

/** As `lookAt`, with what was decided from. */
export async function gather(
  key: CustomerKey,
  parts: Parts,
): Promise<{ readonly looked: LookedAt; readonly evidence: Evidence }> {
  const { config, gate, silence, users, stop } = parts
  const subject = await readSubject(config, key, parts.readRow)
  const { mapped, should } = subject
  const userId = userIdOf(mapped)
  const { look, seen } = await lookFor(userId, { users, gate, silence, signal: stop })
  stop.throwIfAborted()
  // After the GET, so that what is owed is not older than what it showed.
  const knowledge = await parts.knowledge.read(key)
  const known = knownOf(knowledge)
  const digester = makeDigester(parts.digestKey ?? NO_KEY)
  const digests = forCustomer(digester, key)
  const leftOut = leftOutOf(mapped, known.record, { digests, digestKey: digester.id })
  const rivals = await rivalsOf(key, { ...parts, subject, standing: knowledge })
  const evidence = { mapped, policy: policyOf(config), digests, digestKey: digester.id, seen, known, rivals }
  const next: Next = rivals ? nextStep({ ...evidence, rivals }) : { kind: 'unsaid' }
  const looked = { key, userId, should, leftOut, look, knowledge, next, rivals: rivals ?? [] }
  return { looked, evidence }
}

type Told = { readonly chat: Chat; readonly bearer: Bearer | null; readonly consistencyDelayMs: number }

export function judged(looked: LookedAt, { chat, bearer, consistencyDelayMs }: Told): CustomerAccess {
  const { should, look, next, knowledge, userId } = looked
  const known = knownOf(knowledge)
  const says = chatSays(chat, bearer ?? 'unsaid')
  const agreed = agreedStatus(known, userId)
  const verdict = judge({ should, look, met: isMet(known), agreed, chat: says })
  const cures = curesFor({ next, look, chat, bearer, knowledge, consistencyDelayMs })
  return { ...looked, cures, chatSays: says, bearer, verdict }
}

/** As if rollcall had never met the customer. */
const UNKNOWN = { record: NEVER_SETTLED, owed: null, capturedMs: null }

function knownOf(knowledge: Knowledge) {
  return knowledge.kind === 'known' ? knowledge : UNKNOWN
}

/** Any key will do where nothing is compared with what another key has made. */
const NO_KEY = 'no digest key'

type Meeting = Parts & { readonly subject: Subject; readonly standing: Knowledge }

/** Null when the row of the customer, or of one of those who may be rivals, is one that Postgres refuses to read. */
async function rivalsOf(key: CustomerKey, meeting: Meeting): Promise<readonly CustomerKey[] | null> {
  const { pool, config, readRow, subject, standing } = meeting
  if (subject.should.kind === 'unreadable') return null
  const readClaimants = standing.kind === 'known' ? makeReadClaimants(pool) : async () => []
  try {
    const now = await readRow.now()
    return await findRivals({ config, readRow, readClaimants, now }, key, subject.mapped)
  } catch (error) {
    refusalOf(error)
    return null
  }
}
