import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import process from 'node:process'
import { addAbortSignal } from 'node:stream'
import { text } from 'node:stream/consumers'
import { type Access, openAccess } from '../access/access.ts'
import { chatWent } from '../access/chat.ts'
import type { CustomerAccess } from '../access/customer.ts'
import { isJwt } from '../access/token.ts'
import { exitFor } from '../access/verdict.ts'
import type { Config } from '../config/config.ts'
import { accessToken, readEnv } from '../config/env.ts'
import { loadConfig } from '../config/load.ts'
import type { CustomerKey } from '../model/customer.ts'
import { RollcallError } from '../model/errors.ts'
import { type NamedService, sayService } from '../model/service.ts'
import { namedService } from '../service/target.ts'
import { chatJson, customerJson } from './access-json.ts'
import { withImpatientPool } from './access-pool.ts'
import type { AddCommand, ExitCode, Io } from './io.ts'
import { asJson } from './json.ts'
import { namedKeys } from './named.ts'
import { sayEnd, sayFacts } from './say-access.ts'
import { type Reader, sayChat, sayChatNote, sayProfessionals } from './say-chat.ts'
import { shown } from './shown.ts'

type Options = { readonly config?: string; readonly tokenFile?: string; readonly json?: boolean }

const EXAMPLES = `
Says what the customer should have, what the service has (one GET), what
rollcall knows, what to do about it, and a verdict. Nothing is changed, and
nothing needs to be installed: a right to read the customers is enough, and no
ROLLCALL_DIGEST_KEY. Where rollcall is installed, the GET takes its place in
the common pace. It waits ten seconds at most for that, and for any query; after
two calls in a row without an answer the rest are not asked.

With an end user's access token it also asks the chat, once and last: who of
the professionals is seen, when each is next connected, unread messages. Who is
shown nobody cannot use it; 403 to a token that does not name the customer's
user_id (as sub or user_id) leaves it open whom the chat shuts out. The token
is read from SERVICE_ACCESS_TOKEN, SERVICE_ACCESS_TOKEN_FILE or --token-file.
There is no --token: it would stand in the process list. What is no JWT is not
sent. Chat exists on production only, and in a sandbox on this machine; the
demo service is never sent a token.

Exit codes:
  0  every customer can use it: status 2 or 4, and the chat answered if a token
     was used; of those whom the token does not name, the chat says nothing
  3  somebody cannot, or there is no such customer
  1  it could not be found out of somebody; this goes before 3
  2  the call, the configuration, the environment or the token is wrong

Examples:
  rollcall access 4711
  rollcall access 4711 4712 --json
  rollcall access 4711 --token-file token.jwt
  pbpaste | rollcall access 4711 --token-file -   the token from stdin
  rollcall access '["ES", "4711"]'                two key columns`

/** `rollcall access <key…>`: whether these customers can really use the service now. */
export const accessCommand: AddCommand = (program, io, exit) => {
  program
    .command('access')
    .description('say whether customers can really use the service now, and why not')
    .argument('<key...>', 'customer keys')
    .option('-c, --config <file>', 'configuration file (default: rollcall.config.ts)')
    .option('--token-file <file>', "file with an end user's access token, - for stdin; asks the chat too")
    .option('--json', 'print it as JSON')
    .addHelpText('after', EXAMPLES)
    .action(async (keys: string[], options: Options) => {
      const config = await loadConfig(options.config, io.cwd)
      exit(await orStopped(io, () => access(io, { config, keys, options })))
    })
}

async function orStopped(io: Io, work: () => Promise<ExitCode>): Promise<ExitCode> {
  try {
    return await work()
  } catch (error) {
    if (!io.stop.aborted) throw error
    io.err('rollcall: stopped; nothing was changed')
    return 1
  }
}

type Asked = { readonly config: Config; readonly keys: readonly string[]; readonly options: Options }

async function access(io: Io, { config, keys, options }: Asked): Promise<ExitCode> {
  const env = readEnv(io.env, {
    need: ['DATABASE_URL', 'SERVICE_URL', 'SERVICE_API_KEY', 'SERVICE_SECRET_KEY'],
    may:
      options.tokenFile === undefined
        ? ['ROLLCALL_DIGEST_KEY', 'SERVICE_ACCESS_TOKEN']
        : ['ROLLCALL_DIGEST_KEY'],
  })
  const token =
    options.tokenFile === undefined
      ? checkedToken(env.SERVICE_ACCESS_TOKEN, io)
      : await readToken(options.tokenFile, io)
  const service = {
    origin: env.SERVICE_URL,
    apiKey: env.SERVICE_API_KEY,
    secretKey: env.SERVICE_SECRET_KEY,
  }
  const target = namedService(env.SERVICE_URL, config)
  const note = sayChatNote(env.SERVICE_URL, config.service.environment)
  return await withImpatientPool({ url: env.DATABASE_URL, stop: io.stop }, async (pool) => {
    const digestKey = env.ROLLCALL_DIGEST_KEY
    const opened = await openAccess({ pool, config, service, digestKey, token, stop: io.stop })
    try {
      for (const warning of opened.warnings) io.err(`warning: ${shown(warning)}`)
      const named = await namedKeys({ io, pool, shape: opened.shape, keys })
      return await tell(io, { opened, target, note, keys: named, options })
    } finally {
      await opened.close()
    }
  })
}

type Telling = Pick<Asked, 'options'> & {
  readonly keys: readonly CustomerKey[]
  readonly opened: Access
  readonly target: NamedService
  /** About the chat. */
  readonly note: string
}

async function tell(io: Io, { opened, target, note, keys, options }: Telling): Promise<ExitCode> {
  const { claims } = opened
  const reader: Reader = { now: new Date(), timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone }
  const asked: CustomerAccess[] = []
  for await (const one of opened.ask(keys)) {
    asked.push(one)
    if (options.json) continue
    if (asked.length > 1) io.out('')
    const chat = await opened.chat()
    io.out(`customer ${shown(one.key)} at ${sayService(target)}`)
    for (const said of sayFacts(one)) io.out(said)
    for (const said of sayChat({ chat, claims, bearer: one.bearer }, reader)) io.out(said)
    for (const said of sayEnd(one)) io.out(said)
  }
  const chat = await opened.chat()
  if (options.json) io.out(asJson({ target, customers: asked.map(customerJson), chat: chatJson(chat) }))
  else {
    const listed = sayProfessionals(chat, reader)
    for (const said of listed.length > 0 ? ['', ...listed] : []) io.out(said)
    io.out(note)
  }
  return exitFor(
    asked.map(({ verdict }) => verdict),
    chatWent(chat),
  )
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
