// All about one customer: what your data, rollcall's tables and the service say, what a sync would do, and what to do.
import type { Pool } from 'pg'
import { unwatchedTables } from '../capture/status.ts'
import type { Config } from '../config/config.ts'
import { describeCustomers } from '../customers/describe.ts'
import { quotedName } from '../customers/problems.ts'
import { makeReading } from '../customers/read.ts'
import { readUncertain } from '../ledger/calls.ts'
import { databaseError } from '../ledger/reachable.ts'
import type { PartialTarget } from '../ledger/target.ts'
import type { CustomerKey } from '../model/customer.ts'
import { nameOf } from '../model/name-of.ts'
import { makeChatClient } from '../service/chat-client.ts'
import { makeUsersClient } from '../service/users.ts'
import { makeDigester, NO_KEY } from '../sync/digest.ts'
import { isDiscardOver } from '../sync/discard.ts'
import { userIdFor } from '../sync/map.ts'
import { isAccessFirst, withAccessFirst } from '../sync/next-plan.ts'
import { isToErase } from '../sync/plan.ts'
import { whyRowUnreadable } from '../sync/read-customer.ts'
import { planAfter, planNow, readSnapshots, type Snapshot, type SnapshotReading } from '../sync/snapshot.ts'
import { askChat, type Chat, chatSays, mayAskChat, NO_TOKEN } from './chat.ts'
import { compareFields, leftOutOf } from './fields.ts'
import { inTime } from './in-time.ts'
import { hasOpenDrift, historyOf, openRecords, type Records } from './records.ts'
import { redactedMapped, redactedPlan } from './redact.ts'
import { type CallGate, type LookupResult, makeLookup, notAsked, OPEN_GATE, openGate } from './remote.ts'
import { accessOf, type Desired, isLeftAlone, remediesFor, resultOf } from './result.ts'
import { type Bearer, bearersOf, readClaims } from './token.ts'

type ExplainOptions = {
  readonly pool: Pool
  readonly config: Config
  /** Null: no call is made. */
  readonly service: { readonly origin: string; readonly apiKey: string; readonly secretKey: string } | null
  /** Without a call, to see whether the records are about it; default: the service. */
  readonly target?: PartialTarget
  readonly digestKey: string | undefined
  readonly token?: string | undefined
  readonly calls?: number
  /** The values of the row and of the GET are part of the answer. */
  readonly showValues?: boolean
  /** Where the records cannot be compared, the customer is planned as if nothing had been sent before. */
  readonly planAnyway?: boolean
  readonly stop: AbortSignal
  /** For a permit of the common pace; default PATIENCE_MS. */
  readonly patienceMs?: number | undefined
}

/**
 * One customer, as `--json` prints it and as every view of it is rendered. It holds no field's value but `user_id` and
 * status, unless the values were asked for.
 */
export type Explanation = ReturnType<typeof explained>

export type Explain = Awaited<ReturnType<typeof openExplain>>

/**
 * Opens what the question needs. Throws a RollcallError when the customers cannot be read; everything else that is
 * missing is part of the answer. The chat is asked after the users' GETs: it is the smaller question, and what it
 * answers (429, 503) must not keep the larger one from being asked.
 */
export async function openExplain(options: ExplainOptions) {
  const { pool, config, service, digestKey, token, stop, patienceMs } = options
  const { timeoutMs, allowPlainHttp } = config.service
  const claims = token === undefined ? null : readClaims(token)
  const shape = await inTime(quotedName(config.customers.relation), () => describeCustomers(pool, config))
  const target = { ...(options.target ?? service), digestKey }
  const records = await openRecords(pool, target, config.fingerprint)
  const gate = service && records.pace ? await openGate({ pool, stop, patienceMs }) : OPEN_GATE
  const users = service && makeUsersClient({ ...service, timeoutMs, allowPlainHttp, concurrency: 1 })
  const lookup = users && makeLookup({ users, gate, signal: stop })
  const reading = {
    ...{ pool, config, digester: makeDigester(digestKey ?? NO_KEY) },
    readCustomers: makeReading(pool, config, shape),
    unwatched: () => unwatchedTables(pool, config),
  }

  /** The GET comes first, so that what is owed is not older than what it showed. */
  async function gather(key: CustomerKey): Promise<Gathered> {
    const got = lookup ? await lookup.get(key, userIdFor(config, key)) : notAsked('not-wanted')
    stop.throwIfAborted()
    const rollcall = await records.read(key, options.calls ?? 0)
    const anyway = options.planAnyway === true && digestKey === undefined
    const withoutLedger = rollcall.kind !== 'known' || anyway
    const snapshot = await readSnapshot({ ...reading, withoutLedger }, key)
    const unclear = withoutLedger ? [] : ((await readUncertain(pool, [key])).get(key) ?? [])
    return { got, rollcall, snapshot, withoutLedger, unclear, unwatched: await reading.unwatched() }
  }

  /** Each customer once, in order, and what the chat has said. With a token all are asked about before the first comes. */
  async function* ask(keys: readonly CustomerKey[]) {
    const asked = [...new Set(keys)]
    const all: Gathered[] = []
    for (const key of claims === null ? [] : asked) all.push(await gather(key))
    const chat = await chatFor(options, gate, lookup?.gaveUp() ?? false)
    const userIds = asked.map((key) => userIdFor(config, key))
    const bearers = claims && bearersOf(claims, userIds)
    for (const [at, key] of asked.entries()) {
      const gathered = all[at] ?? (await gather(key))
      yield { explanation: explained(gathered, { chat, bearer: bearers?.[at] ?? null, options }), chat }
    }
  }

  return { shape, warnings: shape.warnings, claims, ask, close: async () => users?.close() }
}

/** A row that cannot be read in time (a lock), or by this role, is part of the answer. A database that is away is thrown. */
async function readSnapshot(reading: SnapshotReading, key: CustomerKey): Promise<Snapshot> {
  const read = async (from: SnapshotReading) => {
    const [snapshot] = await readSnapshots(from, [key])
    if (!snapshot) throw new Error('one key has one snapshot')
    return snapshot
  }
  try {
    return await read(reading)
  } catch (error) {
    if (!(error instanceof Error) || nameOf(error).code === undefined || databaseError(error) !== null)
      throw error
    const rows = { rows: new Map(), unreadable: new Map([[key, error]]) }
    return await read({ ...reading, withoutLedger: true, readCustomers: async () => rows })
  }
}

type Gathered = {
  readonly got: LookupResult
  readonly rollcall: Records
  readonly snapshot: Snapshot
  readonly withoutLedger: boolean
  /** Fields that writes of unknown outcome carried. */
  readonly unclear: readonly string[]
  readonly unwatched: readonly string[]
}

type About = { readonly chat: Chat; readonly bearer: Bearer | null; readonly options: ExplainOptions }

function explained(gathered: Gathered, { chat: answer, bearer, options }: About) {
  const { got, rollcall, snapshot, withoutLedger, unclear, unwatched } = gathered
  const { config, planAnyway = false, showValues = false } = options
  const { remote: service, observed } = got
  const { key, work, unreadable } = snapshot
  const desired = desiredOf(snapshot)
  const { digestKeyId: recorded } = work.record
  const comparable = rollcall.kind === 'known' && (recorded === null || recorded === snapshot.digests.keyId)
  const history = historyOf(rollcall)
  const planned = planNow(snapshot, hasOpenDrift(history) ? { unknown: true } : {})
  const { plan } = planned
  const plannedAfter = observed === null || isLeftAlone(plan) ? null : planAfter(snapshot, observed)
  const after = plannedAfter?.plan ?? null
  const leftOut = leftOutOf(snapshot)
  const { consistencyDelayMs } = config.timing
  const comparison =
    observed === null || desired.kind === 'unreadable' || desired.kind === 'rejected'
      ? null
      : compareFields(snapshot, { observed, unclear, leftOut, comparable, showValues, consistencyDelayMs })
  const result = resultOf({ desired, service, plan, planAfterLookup: after, comparison })
  const compared = result === 'left-alone' || result === 'blocked' ? null : comparison
  const showsPlan = !unreadable && (planAnyway || comparable || result === 'blocked' || isLeftAlone(plan))
  const { kind: next } = after ?? plan
  const calls = showsPlan && next !== 'none' && next !== 'reject'
  const isFirst = isAccessFirst(history?.attempts ?? 0, history?.reason ?? null)
  const redacted = ({ plan, memory }: typeof planned) =>
    redactedPlan(plan, isFirst ? withAccessFirst(plan, memory) : plan)
  const facts = { desired, service, rollcall, chat: chatSays(answer, bearer) }
  return {
    ...{ key, userId: userIdFor(config, key), result, access: accessOf(facts), desired },
    /** Fields that are not sent: what the mapping found wrong, and what the service refused. */
    leftOut,
    ...{ mapped: unreadable ? null : redactedMapped(snapshot.mapped), service, rollcall },
    ...{ drift: compared?.drift ?? null, fields: compared?.fields ?? [] },
    /** By what is remembered; null where that cannot be compared with the present digest key. */
    plan: showsPlan ? redacted(planned) : null,
    /** The plan of a sync after its lookup; null where a GET has not shown it. */
    planAfterLookup: plannedAfter && redacted(plannedAfter),
    /** The present change is the one that a person has discarded. */
    discarded: work.record.discard !== null && !isDiscardOver({ ...snapshot, record: work.record }),
    /** Once access is gone, a further call clears the personal fields. */
    erases: isToErase(snapshot),
    /** The plan was made as if nothing had been sent before. */
    withoutLedger,
    /** Other customers in scope that are the same user, as far as rollcall has met them. */
    claimants: snapshot.claimants,
    /** Says which user the token of the chat names; null: the chat was not asked. */
    token: answer.kind === 'not-asked' ? null : bearer,
    remedies: remediesFor({ ...facts, result, calls, unwatched, leftOut, answer, consistencyDelayMs }),
  }
}

function desiredOf({ mapped, unreadable }: Snapshot): Desired {
  if (unreadable)
    return { kind: 'unreadable', reason: whyRowUnreadable(unreadable) ?? { code: 'customer-unreadable' } }
  if (mapped.kind === 'user') return { kind: 'user', status: mapped.user.status }
  if (mapped.kind === 'rejected') return { kind: 'rejected', issues: mapped.issues }
  return { kind: mapped.kind }
}

/** Its Retry-After binds no other call: the chat is the end users', and says nothing of the users' part. */
async function chatFor(options: ExplainOptions, gate: CallGate, gaveUp: boolean): Promise<Chat> {
  const { config, service, token, stop } = options
  if (token === undefined || service === null) return NO_TOKEN
  if (!mayAskChat(service.origin, config.service.environment)) return { kind: 'not-asked', why: 'demo' }
  if (gaveUp) return { kind: 'not-asked', why: 'gave-up' }
  if (!(await gate.pass())) return { kind: 'not-asked', ...(await gate.shut()) }
  const { origin, apiKey } = service
  const { timeoutMs, allowPlainHttp } = config.service
  const client = makeChatClient({
    ...{ origin, apiKey, accessToken: token, timeoutMs, allowPlainHttp, concurrency: 1 },
  })
  try {
    const chat = await askChat(client, stop)
    stop.throwIfAborted()
    return chat
  } finally {
    await client.close()
  }
}
