// What `explain`, `access` and `sync --diff` share: the environment, the token, the customers one by one, and the output.

import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import process from 'node:process'
import { addAbortSignal } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { Config } from '../config/config.ts'
import { accessToken, readEnv } from '../config/env.ts'
import type { Chat } from '../explain/chat.ts'
import { type Explain, type Explained, type Explanation, openExplain } from '../explain/explain.ts'
import { isJwt } from '../explain/token.ts'
import type { CustomerKey } from '../model/customer.ts'
import { RollcallError } from '../model/errors.ts'
import { type NamedService, sayService } from '../model/service.ts'
import { namedService } from '../service/target.ts'
import { withImpatientPool } from './connect.ts'
import {
  chatJson,
  explanationJson,
  renderEnd,
  renderFacts,
  renderFields,
  renderNext,
  renderRecords,
  type View,
} from './explanation.ts'
import type { ExitCode, Io } from './io.ts'
import { namedKeys } from './named.ts'
import { asJson, shown } from './render.ts'
import { renderChat, renderChatNote, renderProfessionals } from './render-chat.ts'

type ExplainAsked = {
  readonly config: Config
  /** As typed. */
  readonly keys: readonly string[]
  /** Whether the service is asked. */
  readonly call: boolean
  readonly calls: number
  readonly tokenFile?: string | undefined
  readonly showValues: boolean
  readonly json: boolean
  readonly view: View
}

/** Null: it was stopped. */
type Told = { readonly explanations: readonly Explanation[]; readonly chat: Chat } | null

const SERVICE = ['SERVICE_URL', 'SERVICE_API_KEY', 'SERVICE_SECRET_KEY'] as const

/** Explains these customers, prints it, and resolves to what was found. Nothing is changed. */
export async function explainAll(io: Io, asked: ExplainAsked): Promise<Told> {
  try {
    return await explain(io, asked)
  } catch (error) {
    if (!io.stop.aborted) throw error
    io.err('rollcall: stopped; nothing was changed')
    return null
  }
}

async function explain(io: Io, asked: ExplainAsked): Promise<Told> {
  const { config, call, tokenFile } = asked
  const env = readEnv(io.env, {
    need: ['DATABASE_URL', ...(call ? SERVICE : [])],
    may: [
      'ROLLCALL_DIGEST_KEY',
      ...(call && tokenFile === undefined ? (['SERVICE_ACCESS_TOKEN'] as const) : []),
    ],
  })
  const { SERVICE_URL: origin, SERVICE_API_KEY: apiKey, SERVICE_SECRET_KEY: secretKey } = env
  const service = call ? { origin, apiKey, secretKey } : null
  const token =
    asked.view === 'diff' || !call
      ? undefined
      : tokenFile === undefined
        ? checkedToken(env.SERVICE_ACCESS_TOKEN, io)
        : await readToken(tokenFile, io)
  return await withImpatientPool({ url: env.DATABASE_URL, stop: io.stop }, async (pool) => {
    const { ROLLCALL_DIGEST_KEY: digestKey } = env
    const opened = await openExplain({
      ...{ pool, config, service, digestKey, token, calls: asked.calls, stop: io.stop },
    })
    try {
      for (const warning of opened.warnings) io.err(`warning: ${shown(warning)}`)
      const keys = await namedKeys({ io, pool, shape: opened.shape, keys: asked.keys })
      return await tell(io, { ...asked, opened, keys, origin: service && origin })
    } finally {
      await opened.close()
    }
  })
}

type Telling = Omit<ExplainAsked, 'keys'> & {
  readonly keys: readonly CustomerKey[]
  readonly opened: Explain
  /** Of the service; null: it is not asked. */
  readonly origin: string | null
}

async function tell(io: Io, telling: Telling): Promise<Told> {
  const { opened, config, keys, json, view, showValues, origin } = telling
  const target = origin === null ? null : namedService(origin, config)
  const reader = { now: new Date(), timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone }
  const { claims } = opened
  const all: Explained[] = []
  let chat: Chat = { kind: 'not-asked', why: 'no-token' }
  for await (const one of opened.ask(keys)) {
    chat = one.chat
    all.push(one)
    if (json) continue
    if (all.length > 1) io.out('')
    const { explanation } = one
    io.out(`customer ${shown(explanation.key)}${target === null ? '' : ` at ${sayService(target)}`}`)
    const fields = renderFields(explanation, showValues ? one.values : null)
    const facts = renderFacts(explanation, view)
    const end = renderEnd(explanation, view)
    const chats = renderChat({ chat, claims, bearer: explanation.bearer }, reader)
    const lines = {
      access: () => [...facts, ...chats, ...end],
      diff: () => [...facts, ...fields, ...renderNext(explanation), ...end],
      // Of so much the verdict comes first.
      all: () => [
        ...[...end, '', ...facts, ...(claims ? chats : []), ...renderNext(explanation), ...fields],
        ...renderRecords(explanation.records),
      ],
    }[view]()
    for (const line of lines) io.out(line)
  }
  if (json) io.out(asJson(documentOf({ all, chat, target }, telling)))
  else if (origin !== null && (view === 'access' || claims !== null)) {
    const listed = renderProfessionals(chat, reader)
    for (const line of listed.length > 0 ? ['', ...listed] : []) io.out(line)
    io.out(renderChatNote(origin, config.service.environment))
  }
  return { explanations: all.map(({ explanation }) => explanation), chat }
}

type Document = {
  readonly all: readonly Explained[]
  readonly chat: Chat
  readonly target: NamedService | null
}

function documentOf({ all, chat, target }: Document, { view, showValues }: Telling): object {
  const customers = all.map(({ explanation, values }) =>
    explanationJson(explanation, showValues ? values : null),
  )
  return { target, customers, ...(view === 'diff' ? {} : { chat: chatJson(chat) }) }
}

/** 0 all is as it should be, 3 something is not, 1 of a customer it could not be found out; that goes before 3. */
export function exitForResults(explanations: readonly Pick<Explanation, 'result'>[]): ExitCode {
  const results = explanations.map(({ result }) => result)
  if (results.includes('unknown')) return 1
  return results.includes('differs') || results.includes('blocked') ? 3 : 0
}

const TOKEN = "an end user's access token (a JWT) and nothing else"

/** Throws RollcallError ENV_INVALID, which names the variable and never what it holds. */
function checkedToken(token: string | undefined, { env }: Io): string | undefined {
  if (token === undefined || isJwt(token)) return token
  const from = env.SERVICE_ACCESS_TOKEN_FILE ? 'SERVICE_ACCESS_TOKEN_FILE' : 'SERVICE_ACCESS_TOKEN'
  throw new RollcallError('ENV_INVALID', [`${from}: expected ${TOKEN}; nothing was sent`])
}

/** Throws RollcallError USAGE, which names the file and never what it holds. */
async function readToken(file: string, io: Io): Promise<string> {
  if (file === '-' && process.stdin.isTTY) io.err('Paste the access token, then Enter and Ctrl-D.')
  const found =
    file === '-' ? await text(addAbortSignal(io.stop, process.stdin)) : await readNamed(resolve(io.cwd, file))
  const token = accessToken(found)
  if (token === undefined || !isJwt(token))
    throw new RollcallError('USAGE', [`--token-file: expected ${TOKEN}; nothing was sent`])
  return token
}

async function readNamed(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch {
    // Why exactly (missing, a folder, no right) is not told apart.
    throw new RollcallError('USAGE', ['--token-file: there is no such file, or it may not be read'])
  }
}
