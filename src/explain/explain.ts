// All about one customer: what your data, rollcall's tables and the service say, what a sync would do, and what to do.
import type { Pool } from 'pg'
import { unwatchedTables } from '../capture/watching.ts'
import type { Config } from '../config/config.ts'
import { type CustomersShape, describeCustomers } from '../customers/describe.ts'
import { quotedName } from '../customers/problems.ts'
import { makeReading } from '../customers/reading.ts'
import { databaseError } from '../ledger/reachable.ts'
import type { CustomerKey } from '../model/customer.ts'
import { RollcallError } from '../model/errors.ts'
import type { FieldIssue } from '../model/mapped.ts'
import { makeChatClient } from '../service/chat-client.ts'
import { makeUsersClient } from '../service/users.ts'
import { makeDigester } from '../sync/digest.ts'
import { userIdFor } from '../sync/map.ts'
import type { Plan } from '../sync/plan.ts'
import { planAfter, planNow, readSnapshots, type Snapshot } from '../sync/snapshot.ts'
import { askChat, type Chat, chatSays, mayAskChat } from './chat.ts'
import { type Comparison, compareFields, leftOutOf } from './fields.ts'
import { inTime } from './in-time.ts'
import {
  type AccessVerdict,
  accessOf,
  type Desired,
  isLeftAlone,
  type Remedy,
  type Result,
  remediesFor,
  resultOf,
} from './judge.ts'
import { openRecords, type Records } from './records.ts'
import { type LookupResult, makeLookup, notAsked, OPEN_GATE, openGate, type RemoteView } from './remote.ts'
import { type Bearer, bearersOf, type Claims, readClaims } from './token.ts'

/** No field's value but `user_id` and status. */
export type Explanation = {
  readonly key: CustomerKey
  readonly userId: string | null
  readonly desired: Desired
  /** Fields that are not sent: what the mapping found wrong, and what the service refused. */
  readonly leftOut: readonly FieldIssue[]
  readonly remote: RemoteView
  readonly records: Records
  /** Other customers in scope that are the same user, as far as rollcall has met them. */
  readonly claimants: readonly CustomerKey[]
  /** By what is remembered; null where that cannot be compared with the present digest key. */
  readonly plan: Plan | null
  /** What a sync would do once it has looked; null where a GET has not shown it. */
  readonly planAfterLookup: Plan | null
  readonly result: Result
  readonly comparison: Comparison | null
  readonly access: AccessVerdict
  readonly remedies: readonly Remedy[]
  /** Whose token it is; null without one. */
  readonly bearer: Bearer | null
}

/** What stands in a row and in the GET, as it is; null for none. For people who asked to see it. */
export type Values = ReadonlyMap<string, { readonly here: unknown; readonly service: unknown }>

export type Explained = { readonly explanation: Explanation; readonly values: Values }

type ExplainOptions = {
  readonly pool: Pool
  readonly config: Config
  /** Null: no call is made. */
  readonly service: { readonly origin: string; readonly apiKey: string; readonly secretKey: string } | null
  readonly digestKey: string | undefined
  readonly token?: string | undefined
  /** Of the calls that were written down, so many. */
  readonly calls?: number
  readonly stop: AbortSignal
  /** For a permit of the common pace; default PATIENCE_MS. */
  readonly patienceMs?: number | undefined
}

export type Explain = {
  readonly shape: CustomersShape
  readonly warnings: readonly string[]
  /** What the token says of itself; null without one. */
  readonly claims: Claims | null
  /** Each customer once, in order, and what the chat has said. With a token all are asked about before the first comes. */
  ask(keys: readonly CustomerKey[]): AsyncGenerator<Explained & { readonly chat: Chat }>
  close(): Promise<void>
}

/** Any key will do where nothing is compared with what another key has made. */
const NO_KEY = 'no digest key'

/**
 * Opens what the question needs. Throws a RollcallError when the customers cannot be read; everything else that is
 * missing is part of the answer. The chat is asked after the users' GETs: it is the smaller question, and what it
 * answers (429, 503) must not keep the larger one from being asked.
 */
export async function openExplain(options: ExplainOptions): Promise<Explain> {
  const { pool, config, service, digestKey, token, stop, patienceMs } = options
  const { timeoutMs, allowPlainHttp } = config.service
  const claims = token === undefined ? null : readClaims(token)
  const shape = await inTime(quotedName(config.customers.relation), () => describeCustomers(pool, config))
  const records = await openRecords(pool, {
    origin: service?.origin,
    apiKey: service?.apiKey,
    digestKey,
  })
  const gate = service && records.pace ? await openGate({ pool, stop, patienceMs }) : OPEN_GATE
  const users = service && makeUsersClient({ ...service, timeoutMs, allowPlainHttp, concurrency: 1 })
  const looking = users && makeLookup({ users, gate, signal: stop })
  const digester = makeDigester(digestKey ?? NO_KEY)
  const readCustomers = makeReading(pool, config, shape)
  const unwatched = () => unwatchedTables(pool, config)
  const reading = { pool, config, digester, readCustomers, unwatched }
  let asked: Promise<Chat> | undefined

  /** The GET comes first, so that what is owed is not older than what it showed. */
  async function gather(key: CustomerKey): Promise<Gathered> {
    const looked = looking ? await looking.look(userIdFor(config, key)) : notAsked('not-wanted')
    stop.throwIfAborted()
    const known = await records.read(key, options.calls ?? 0)
    return { looked, records: known, snapshot: await readSnapshot(key, known) }
  }

  async function readSnapshot(key: CustomerKey, known: Records): Promise<Snapshot> {
    const read = async (withoutLedger: boolean) => {
      const [snapshot] = await readSnapshots({ ...reading, withoutLedger }, [key])
      if (!snapshot) throw new Error('one key has one snapshot')
      return snapshot
    }
    try {
      return await read(known.kind !== 'known')
    } catch (error) {
      return unreadable(error)
    }

    /** A row that cannot be read in time (a lock), or by this role. A database that is away is thrown. */
    async function unreadable(error: unknown): Promise<Snapshot> {
      const code = (error as { code?: unknown } | null)?.code
      if (typeof code !== 'string' || databaseError(error) !== null) throw error
      const rows = { rows: new Map(), unreadable: new Map([[key, error as Error]]) }
      const [snapshot] = await readSnapshots(
        { ...reading, withoutLedger: true, readCustomers: async () => rows },
        [key],
      )
      if (!snapshot) throw error
      return snapshot
    }
  }

  /** Its Retry-After binds nobody: the chat is the end users', and what it cannot bear says nothing of the users' part. */
  function askTheChat(): Promise<Chat> {
    asked ??= chatFor(options, { gate, gaveUp: looking?.gaveUp() ?? false })
    return asked
  }

  async function* ask(keys: readonly CustomerKey[]): AsyncGenerator<Explained & { readonly chat: Chat }> {
    const all: Gathered[] = []
    for (const key of new Set(keys)) {
      const gathered = await gather(key)
      if (claims === null)
        yield { ...explained(gathered, { chat: NO_TOKEN, bearer: null, options }), chat: NO_TOKEN }
      else all.push(gathered)
    }
    if (claims === null) return
    const chat = await askTheChat()
    const bearers = bearersOf(
      claims,
      all.map(({ snapshot }) => userIdFor(config, snapshot.key)),
    )
    for (const [at, gathered] of all.entries())
      yield { ...explained(gathered, { chat, bearer: bearers[at] ?? 'unsaid', options }), chat }
  }

  return {
    ...{ shape, warnings: shape.warnings, claims, ask },
    close: async () => users?.close(),
  }
}

const NO_TOKEN: Chat = { kind: 'not-asked', why: 'no-token' }

type Gathered = { readonly looked: LookupResult; readonly records: Records; readonly snapshot: Snapshot }

type Told = {
  readonly chat: Chat
  readonly bearer: Bearer | null
  readonly options: Pick<ExplainOptions, 'config' | 'digestKey'>
}

function explained({ looked, records, snapshot }: Gathered, { chat, bearer, options }: Told): Explained {
  const { remote, seen } = looked
  const { key, work, rivals } = snapshot
  const desired = desiredOf(snapshot)
  const { digestKey: recorded } = work.record
  const comparable = records.kind === 'known' && (recorded === null || recorded === snapshot.digestKey)
  const { plan } = planNow(snapshot)
  const planAfterLookup = seen === null || isLeftAlone(plan) ? null : planAfter(snapshot, seen).plan
  const leftOut = leftOutOf(snapshot)
  const comparison =
    seen === null || desired.kind === 'unreadable' || desired.kind === 'rejected'
      ? null
      : compareFields(snapshot, { seen, leftOut, comparable })
  const result = resultOf({ desired, remote, plan, planAfterLookup, comparison })
  const says = chatSays(chat, bearer)
  const { consistencyDelayMs } = options.config.timing
  return {
    values: valuesOf(snapshot, looked),
    explanation: {
      ...{ key, userId: userIdFor(options.config, key), desired, leftOut, remote, records },
      ...{
        claimants: rivals,
        plan: (comparable || isLeftAlone(plan)) && !snapshot.unreadable ? plan : null,
        planAfterLookup,
        result,
        bearer,
      },
      comparison: result === 'left-alone' || result === 'blocked' ? null : comparison,
      access: accessOf({ desired, remote, records, chat: says }),
      remedies: remediesFor({
        ...{ desired, remote, records, result, leftOut, chat, chatSays: says, consistencyDelayMs },
      }),
    },
  }
}

function desiredOf({ mapped, unreadable }: Snapshot): Desired {
  if (unreadable) {
    const code = (unreadable as { code?: unknown }).code
    const misfits = unreadable instanceof RollcallError ? unreadable.details : []
    return { kind: 'unreadable', code: typeof code === 'string' ? code : 'unknown', misfits }
  }
  switch (mapped.kind) {
    case 'user':
      return { kind: 'user', status: mapped.user.status }
    case 'removed':
    case 'out-of-scope':
      return { kind: mapped.kind }
    case 'rejected':
      return { kind: 'rejected', issues: mapped.issues }
    default:
      return mapped satisfies never
  }
}

function valuesOf({ mapped }: Snapshot, { seen }: LookupResult): Values {
  if (seen === null || seen === 'absent') return new Map()
  const desired: Readonly<Record<string, unknown>> =
    mapped.kind === 'user' ? { ...mapped.user.fields, status: mapped.user.status } : { status: 0 }
  const remote: Readonly<Record<string, unknown>> = { ...seen.fields, status: seen.status }
  const fields = [...new Set([...Object.keys(desired), ...Object.keys(remote)])]
  return new Map(
    fields.map((field) => [field, { here: desired[field] ?? null, service: remote[field] ?? null }]),
  )
}

type Asking = { readonly gate: Awaited<ReturnType<typeof openGate>>; readonly gaveUp: boolean }

async function chatFor(
  { config, service, token, stop }: ExplainOptions,
  { gate, gaveUp }: Asking,
): Promise<Chat> {
  if (token === undefined || service === null) return NO_TOKEN
  if (!mayAskChat(service.origin, config.service.environment)) return { kind: 'not-asked', why: 'demo' }
  if (gaveUp) return { kind: 'not-asked', why: 'gave-up' }
  if (!(await gate.pass())) return { kind: 'not-asked', why: 'no-permit', waitMs: await gate.heldForMs() }
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
