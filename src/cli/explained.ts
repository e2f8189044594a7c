// Shared by `explain`, `access` and `sync --dry-run`: the environment, the token, and the output.
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import process from 'node:process'
import { addAbortSignal } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { Pool } from 'pg'
import type { Config } from '../config/config.ts'
import { accessToken } from '../config/env.ts'
import { type Chat, NO_TOKEN } from '../explain/chat.ts'
import { type Explain, type Explanation, openExplain } from '../explain/explain.ts'
import { historyOf } from '../explain/records.ts'
import { isJwt } from '../explain/token.ts'
import { findMappingIfAny } from '../ledger/generation.ts'
import type { CustomerKey } from '../model/customer.ts'
import { RollcallError } from '../model/errors.ts'
import { renderService } from '../model/service.ts'
import { namedService } from '../service/address.ts'
import { BINDING_ENV } from './binding.ts'
import { withDatabase } from './connect.ts'
import { renderOne, type View } from './explanation.ts'
import type { ExitCode, Io } from './io.ts'
import { checkKnown, namedKeys } from './named.ts'
import { shown, tell, warn } from './render.ts'
import { renderChat, renderProfessionals } from './render-chat.ts'

type Asked = {
  readonly config: Config
  readonly keys: readonly string[]
  readonly view: View
  readonly json?: boolean
  readonly call?: boolean
  readonly calls?: number
  readonly tokenFile?: string | undefined
  readonly showValues?: boolean
  /** For a dry run: a key without a row was a customer. */
  readonly removed?: boolean
}

type Answer = { readonly explanations: readonly Explanation[]; readonly chat: Chat }

const SERVICE = ['SERVICE_URL', 'SERVICE_API_KEY', 'SERVICE_SECRET_KEY'] as const

export async function explainAll(io: Io, asked: Asked, exitFor: (next: Answer) => ExitCode = exitForResults) {
  try {
    return exitFor(await explain(io, asked))
  } catch (error) {
    if (!io.stop.aborted) throw error
    io.err('rollcall: stopped; nothing was changed')
    return 1
  }
}

async function explain(io: Io, asked: Asked): Promise<Answer> {
  const { config, call = true, view, calls = 0, showValues = false, json = false } = asked
  const asksChat = call && view !== 'dry-run'
  const wanted = {
    need: call ? SERVICE : [],
    may: [
      ...(call ? (['ROLLCALL_DIGEST_KEY'] as const) : BINDING_ENV),
      ...(asksChat && !asked.tokenFile ? (['SERVICE_ACCESS_TOKEN'] as const) : []),
    ] as const,
    ...{ tables: false, impatient: true },
  }
  return await withDatabase(io, wanted, async (pool, env) => {
    const { SERVICE_URL: origin, SERVICE_API_KEY: apiKey, SERVICE_SECRET_KEY: secretKey } = env
    const service = call ? { origin, apiKey, secretKey } : null
    const target = { origin, apiKey }
    const token = asksChat ? await tokenFrom(io, asked.tokenFile, env.SERVICE_ACCESS_TOKEN) : undefined
    const opened = await openExplain({
      ...{ pool, config, service, target, digestKey: env.ROLLCALL_DIGEST_KEY, token, stop: io.stop },
      ...{ calls, showValues },
      planAnyway: view === 'dry-run',
    })
    try {
      warn(io, opened.warnings)
      const keys = await namedKeys(io, { pool, shape: opened.shape }, asked.keys)
      if (view === 'dry-run') return await tellDryRun(opened, keys, pool)
      return await tellEach(opened, keys, service && origin)
    } finally {
      await opened.close()
    }
  })

  async function tellEach({ ask, claims }: Explain, keys: readonly CustomerKey[], origin: string | null) {
    const target = origin === null ? null : namedService(origin, config)
    const where = target === null ? '' : ` at ${renderService(target)}`
    const now = new Date()
    const showsChat = view === 'access' || claims !== null
    const explanations: Explanation[] = []
    let chat: Chat = NO_TOKEN
    for await (const next of ask(keys)) {
      const { explanation } = next
      chat = next.chat
      explanations.push(explanation)
      if (json) continue
      if (explanations.length > 1) io.out('')
      io.out(`customer ${shown(explanation.key)}${where}`)
      const chatLines = showsChat ? renderChat({ chat, claims, bearer: explanation.token }, now) : []
      for (const line of renderOne(explanation, view, chatLines)) io.out(line)
    }
    const found = { target, customers: explanations, chat: { existsOn: 'production', ...chat } }
    tell(io, json, found, () => {
      const listed = showsChat ? renderProfessionals(chat, now) : []
      return listed.length > 0 ? ['', ...listed] : []
    })
    return { explanations, chat }
  }

  /** All of them at the end: a mistyped key is an error, and then nothing is printed. */
  async function tellDryRun({ ask }: Explain, keys: readonly CustomerKey[], pool: Pool) {
    const explanations: Explanation[] = []
    for await (const { explanation } of ask(keys)) explanations.push(explanation)
    const missing = explanations.flatMap(({ key, desired }) => (desired.kind === 'removed' ? key : []))
    if (!asked.removed) await checkKnown(pool, missing)
    const mappingCurrent = (await findMappingIfAny(pool, config.fingerprint))?.current ?? null
    const found = explanations.map(({ key, plan, withoutLedger, desired, mapped, leftOut }) => {
      return { key, plan, withoutLedger, mappingCurrent, desired, mapped, leftOut }
    })
    tell(io, json, found, () =>
      explanations.flatMap((one) => [
        `customer ${shown(one.key)} (dry run)`,
        ...renderOne(one, 'dry-run', []),
      ]),
    )
    return { explanations, chat: NO_TOKEN }
  }
}

type Judged = Pick<Explanation, 'result' | 'leftOut' | 'service' | 'plan' | 'planAfterLookup' | 'rollcall'>

/**
 * 0 all is as it should be, 3 something is not, 1 of a customer it could not be found out; that goes before 3. A value that is
 * invalid or refused is not right, though a GET differs in nothing that is sent; nor is one that the service refuses to clear. (A
 * value that another user has is sent again later.)
 */
export function exitForResults({ explanations }: { readonly explanations: readonly Judged[] }): ExitCode {
  const results = explanations.map((one) => (one.result === 'unknown' ? resultByRecords(one) : one.result))
  if (results.includes('unknown')) return 1
  const left = explanations.some(
    (one) => one.planAfterLookup?.kind === 'erase' || one.leftOut.some(({ code }) => code !== 'taken'),
  )
  return left || results.includes('differs') || results.includes('blocked') ? 3 : 0
}

/** With --no-call the records answer: nothing to send, and settled. An open finding has a lookup sent first. */
function resultByRecords({ service, plan, rollcall }: Judged): Explanation['result'] {
  if (service.kind !== 'not-asked' || service.why !== 'not-wanted' || plan === null) return 'unknown'
  const { state = 'idle' } = historyOf(rollcall) ?? {}
  return plan.kind === 'none' && state === 'idle' ? 'same' : 'differs'
}

const TOKEN = "an end user's access token (a JWT) and nothing else"

/**
 * From the file, else from the variable.
 *
 * @throws RollcallError USAGE or ENV_INVALID, which names the file or the variable and never what it holds
 */
async function tokenFrom(io: Io, file?: string, variable?: string): Promise<string | undefined> {
  if (file !== undefined) {
    const token = accessToken(await readToken(file, io))
    if (token !== undefined && isJwt(token)) return token
    throw new RollcallError('USAGE', [`--token-file: expected ${TOKEN}; nothing was sent`])
  }
  if (variable === undefined || isJwt(variable)) return variable
  const from = io.env.SERVICE_ACCESS_TOKEN_FILE ? 'SERVICE_ACCESS_TOKEN_FILE' : 'SERVICE_ACCESS_TOKEN'
  throw new RollcallError('ENV_INVALID', [`${from}: expected ${TOKEN}; nothing was sent`])
}

async function readToken(file: string, io: Io): Promise<string> {
  if (file === '-') {
    if (process.stdin.isTTY) io.err('Paste the access token, then Enter and Ctrl-D.')
    return await text(addAbortSignal(io.stop, process.stdin))
  }
  try {
    return await readFile(resolve(io.cwd, file), 'utf8')
  } catch {
    throw new RollcallError('USAGE', ['--token-file: rollcall cannot read this file'])
  }
}
