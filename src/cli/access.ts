import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import type { Pool } from 'pg'
import { type Access, type CustomerAccess, openAccess } from '../access/access.ts'
import { chatWent } from '../access/chat.ts'
import { exitFor } from '../access/verdict.ts'
import type { Config } from '../config/config.ts'
import { accessToken, readEnv } from '../config/env.ts'
import { loadConfig } from '../config/load.ts'
import type { CustomerKey } from '../model/customer.ts'
import { RollcallError } from '../model/errors.ts'
import { describeTarget } from '../service/target.ts'
import { chatJson, customerJson } from './access-json.ts'
import { withPool } from './connect.ts'
import type { AddCommand, ExitCode, Io } from './io.ts'
import { asJson } from './json.ts'
import { sayFacts, sayVerdict } from './say-access.ts'
import { type Reader, sayChat, sayProfessionals } from './say-chat.ts'

type Options = { readonly config?: string; readonly tokenFile?: string; readonly json?: boolean }

const EXAMPLES = `
Says what the customer should have, what the service has (one GET), what rollcall knows, and a verdict. Nothing is
changed, and nothing needs to be installed: a right to read the customers is enough, and no ROLLCALL_DIGEST_KEY. Where
rollcall is installed, the GET takes its place in the common pace, for which it waits ten seconds at most.

With an end user's access token it also asks the chat, once: who of the professionals is seen, when each is next
connected, unread messages. The token is read from SERVICE_ACCESS_TOKEN, SERVICE_ACCESS_TOKEN_FILE or --token-file.
There is no --token: it would stand in the process list. Chat exists on production only (or on this machine, in the
sandbox); on the demo service the token is not sent.

Exit codes:
  0  every customer can use it: status 2 or 4, and the chat answered if a token was used
  3  somebody cannot, or there is no such customer
  1  it could not be found out of somebody; this goes before 3
  2  the call, the configuration or the environment is wrong

Examples:
  rollcall access 4711
  rollcall access 4711 4712 --json
  rollcall access 4711 --token-file token.jwt
  pbpaste | rollcall access 4711 --token-file -    the token from stdin
  rollcall access '["ES", "4711"]'                 a customer with two key columns`

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
      exit(await access(io, { config, keys, options }))
    })
}

type Asked = { readonly config: Config; readonly keys: readonly CustomerKey[]; readonly options: Options }

async function access(io: Io, { config, keys, options }: Asked): Promise<ExitCode> {
  const env = readEnv(io.env, {
    need: ['DATABASE_URL', 'SERVICE_URL', 'SERVICE_API_KEY', 'SERVICE_SECRET_KEY'],
    may:
      options.tokenFile === undefined
        ? ['ROLLCALL_DIGEST_KEY', 'SERVICE_ACCESS_TOKEN']
        : ['ROLLCALL_DIGEST_KEY'],
  })
  const token =
    options.tokenFile === undefined ? env.SERVICE_ACCESS_TOKEN : await readToken(options.tokenFile, io)
  const service = {
    origin: env.SERVICE_URL,
    apiKey: env.SERVICE_API_KEY,
    secretKey: env.SERVICE_SECRET_KEY,
  }
  const target = describeTarget(env.SERVICE_URL, config)
  return await withPool(env.DATABASE_URL, async (pool: Pool) => {
    const digestKey = env.ROLLCALL_DIGEST_KEY
    const opened = await openAccess({ pool, config, service, digestKey, token, stop: io.stop })
    try {
      for (const warning of opened.warnings) io.err(`warning: ${warning}`)
      return await tell(io, { opened, target, keys, options })
    } finally {
      await opened.close()
    }
  })
}

type Telling = Pick<Asked, 'keys' | 'options'> & { readonly opened: Access; readonly target: string }

async function tell(io: Io, { opened, target, keys, options }: Telling): Promise<ExitCode> {
  const { chat, claims } = opened
  const reader: Reader = { now: new Date(), timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone }
  const asked: CustomerAccess[] = []
  for (const key of new Set(keys)) {
    const one = await opened.of(key)
    asked.push(one)
    if (options.json) continue
    io.out(`customer ${key} at ${target}`)
    for (const said of sayFacts(one)) io.out(said)
    io.out(sayChat({ chat, claims, bearer: one.bearer }, reader))
    io.out(sayVerdict(one.verdict))
  }
  if (options.json) io.out(asJson({ target, customers: asked.map(customerJson), chat: chatJson(chat) }))
  else for (const said of sayProfessionals(chat, reader)) io.out(said)
  return exitFor(
    asked.map(({ verdict }) => verdict),
    chatWent(chat),
  )
}

const TOKEN = "an end user's access token (a JWT) and nothing else"

/** Throws RollcallError USAGE, which names the file and never what it holds. */
async function readToken(file: string, io: Io): Promise<string> {
  if (file === '-' && process.stdin.isTTY) io.err('Paste the access token, then Enter and Ctrl-D.')
  const found = file === '-' ? await text(process.stdin) : await readNamed(resolve(io.cwd, file))
  const token = accessToken(found)
  if (token === undefined) throw new RollcallError('USAGE', [`--token-file: expected ${TOKEN}`])
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
