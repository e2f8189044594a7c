// One customer for a person who asks: everything, or only whether the customer can use the service.
import { loadConfig } from '../config/load.ts'
import { type Chat, chatFailed } from '../explain/chat.ts'
import type { AccessVerdict } from '../explain/verdicts.ts'
import { explainAll } from './explained.ts'
import type { AddCommand, ExitCode } from './io.ts'
import { CONFIG_OPTION, JSON_OPTION, readLimit } from './option-values.ts'

const TOKEN_FILE = [
  '--token-file <file>',
  "file with an end user's access token, - for stdin; asks the chat too",
] as const

const EXPLAIN_HELP = `
One view of a customer: what your data makes of it, what rollcall remembers and
owes, what the service has (one GET, unless --no-call), the fields side by side,
what a sync would send and why, the last calls, an open finding, whether the
customer can use the service now, and what to do. Nothing is changed.

Nothing needs to be installed: a right to read the customers is enough. Where
rollcall is installed, the GET takes its place in the common pace, and the
records are compared with the digest key in ROLLCALL_DIGEST_KEY. A query or a
permit is waited for ten seconds at most. After two calls in a row without an
answer the rest are not asked. With an end user's access token the chat is asked
too, see \`rollcall access --help\`.

Exit codes:
  0  the service has what it should have, or nothing is asked for
  3  something differs, a value is refused, or it cannot be sent as it is
  1  it could not be found out of a customer; this goes before 3
  2  the call, the configuration, the environment or the token is wrong

Examples:
  rollcall explain 4711
  rollcall explain 4711 4712 --json
  rollcall explain 4711 --show-values     with the values of the fields
  rollcall explain 4711 --no-call         without asking the service
  rollcall explain 4711 --calls 50        with the last fifty calls
  rollcall explain '["ES", "4711"]'       a customer with two key columns`

const ACCESS_HELP = `
Says what the customer should have, what the service has (one GET), what
rollcall knows, what to do about it, and whether the customer can use it.
Nothing is changed; \`rollcall explain --help\` tells what is needed and waited
for. No ROLLCALL_DIGEST_KEY is needed.

With an end user's access token it also asks the chat, once and last: who of
the professionals is seen, when each is next connected, unread messages. Who is
shown no one cannot use it; 403 to a token that does not name the customer's
user_id (as sub or user_id) leaves it open which user is shut out. The token
is read from SERVICE_ACCESS_TOKEN, SERVICE_ACCESS_TOKEN_FILE or --token-file.
There is no --token: it would stand in the process list. What is no JWT is not
sent. Chat exists on production only, and in a sandbox on this machine; the
demo service is never sent a token.

Exit codes:
  0  every customer can use it: status 2 or 4, and the chat answered if a token
     was used; of those that the token does not name, the chat says nothing
  3  a customer cannot, or there is no such customer
  1  it could not be found out of a customer; this goes before 3
  2  the call, the configuration, the environment or the token is wrong

Examples:
  rollcall access 4711
  rollcall access 4711 4712 --json
  rollcall access 4711 --token-file token.jwt
  pbpaste | rollcall access 4711 --token-file -   the token from stdin
  rollcall access '["ES", "4711"]'                two key columns`

export const explainCommand: AddCommand = (program, io, exit) => {
  program
    .command('explain')
    .argument('<key...>', 'customer keys')
    .option(...CONFIG_OPTION)
    .option('--no-call', 'do not ask the service')
    .option('--show-values', 'show what the fields hold')
    .option('--calls <number>', 'show so many of the last calls (default: 5)')
    .option(...TOKEN_FILE)
    .option(...JSON_OPTION)
    .addHelpText('after', EXPLAIN_HELP)
    .action(async (keys, { config: file, calls: most, ...options }) => {
      const calls = most === undefined ? 5 : readLimit(most, '--calls')
      const config = await loadConfig(file, io.cwd)
      exit(await explainAll(io, { ...options, config, keys, view: 'all', calls }))
    })
}

export const accessCommand: AddCommand = (program, io, exit) => {
  program
    .command('access')
    .argument('<key...>', 'customer keys')
    .option(...CONFIG_OPTION)
    .option(...TOKEN_FILE)
    .option(...JSON_OPTION)
    .addHelpText('after', ACCESS_HELP)
    .action(async (keys, { config: file, ...options }) => {
      const config = await loadConfig(file, io.cwd)
      exit(await explainAll(io, { ...options, config, keys, view: 'access' }, exitForAccess))
    })
}

type Verdicts = {
  readonly explanations: readonly { readonly access: Pick<AccessVerdict, 'can'> }[]
  readonly chat: Chat
}

/** 0 all can, 3 a customer cannot, 1 of a customer it could not be found out: an answer with a hole is no whole one. */
export function exitForAccess({ explanations, chat }: Verdicts): ExitCode {
  const verdicts = explanations.map(({ access }) => access.can)
  if (chatFailed(chat) || verdicts.includes('unknown')) return 1
  return chat.kind === 'shut' || verdicts.includes('no') ? 3 : 0
}
