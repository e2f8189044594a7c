// One customer for a person who asks: everything, or only whether the customer can use the service.
import { loadConfig } from '../config/load.ts'
import { type Chat, chatFailed } from '../explain/chat.ts'
import type { AccessVerdict } from '../explain/verdicts.ts'
import { explainAll } from './explained.ts'
import type { AddCommand, ExitCode } from './io.ts'
import { CONFIG_OPTION, JSON_OPTION, wholeNumber } from './option-values.ts'
import { CALLS } from './render-history.ts'

const TOKEN_FILE = [
  '--token-file <file>',
  "a file with the user's access token (- for stdin): also ask the service's chat whether it lets the user in",
] as const

const EXPLAIN_HELP = `
Compares the desired user (from your data) with the user at the service (one
GET, unless --no-call), field by field. Also prints the stored state, an open
finding, the last calls and the next call of a sync. Changes nothing.

The Postgres role needs only the right to read the customers; without rights on
rollcall's tables no stored state is printed. If the database has these tables,
the GET counts towards the rate limit that the workers share. With
ROLLCALL_DIGEST_KEY the command also compares the values with the ledger. It
waits at most ten seconds for a query to Postgres, and ten seconds for the rate
limit. After two calls in a row without an answer it makes no further call. With
an access token of the user it also asks the chat: see \`rollcall access --help\`.

Exit codes:
  0  the user is up to date, or rollcall manages no user for the customer
  3  something differs, a value is invalid or refused, or the customer cannot be
     sent
  1  rollcall could not check a customer (1 takes precedence over 3)
  2  the command line, configuration, environment or token is wrong
With --no-call, rollcall reads only your data and the ledger. Then 0 means that
the customer is settled and nothing is to be sent.

Examples:
  rollcall explain 4711
  rollcall explain '["ES", "4711"]'       a customer with two key columns`

const ACCESS_HELP = `
Prints the desired status, the status at the service (one GET), the stored
state, what to do, and whether the customer can use the service now. It changes
nothing. \`rollcall explain --help\` lists the rights and the time limits.
ROLLCALL_DIGEST_KEY is not needed.

With an end user's access token it also asks the chat once for the list of
professionals that the user sees. The list says when each of them is next
online, and has the number of unread messages. A user that sees no professional
cannot use the service. If the token does not name the customer's user_id (in
its JWT claim sub or user_id), it may be the token of another user. Then a 403
of the chat says nothing about this customer.

The token comes from SERVICE_ACCESS_TOKEN, SERVICE_ACCESS_TOKEN_FILE or
--token-file, and is sent only if it is a JWT. There is no option --token,
because the process list would show it. The service's demo environment has no
chat, but the sandbox has one. So with service.environment 'demo', rollcall
sends a token only to a sandbox on this machine.

Exit codes:
  0  every customer has status 2 or 4 at the service. With a token: its user
     also sees at least one professional in the chat
  3  a customer cannot use the service, or does not exist
  1  rollcall could not check a customer (1 takes precedence over 3)
  2  the command line, configuration, environment or token is wrong

Examples:
  rollcall access 4711
  rollcall access 4711 --token-file token.jwt
  rollcall access '["ES", "4711"]'                two key columns`

export const explainCommand: AddCommand = (program, io, exit) => {
  program
    .command('explain')
    .argument('<key...>', 'customer keys')
    .option(...CONFIG_OPTION)
    .option('--no-call', 'make no GET')
    .option('--show-values', 'show the values of the fields')
    .option('--calls <number>', 'show this many of the last calls', wholeNumber('--calls'), CALLS)
    .option(...TOKEN_FILE)
    .option(...JSON_OPTION)
    .addHelpText('after', EXPLAIN_HELP)
    .action(async (keys, { config: file, ...options }) => {
      const config = await loadConfig(file, io.cwd)
      exit(await explainAll(io, { ...options, config, keys, view: 'all' }))
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

/** 0 all can, 3 a customer cannot, 1 of a customer it could not be found out: an answer with a hole is no whole one. */
export function exitForAccess({
  explanations,
  chat,
}: {
  readonly explanations: readonly { readonly access: Pick<AccessVerdict, 'can'> }[]
  readonly chat: Chat
}): ExitCode {
  const verdicts = explanations.map(({ access }) => access.can)
  if (chatFailed(chat) || verdicts.includes('unknown')) return 1
  return verdicts.includes('no') ? 3 : 0
}
