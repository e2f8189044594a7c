import { loadConfig } from '../config/load.ts'
import { exitForResults, explainAll } from './explained.ts'
import type { AddCommand } from './io.ts'
import { CONFIG_OPTION, JSON_OPTION, readLimit } from './option-values.ts'

const EXAMPLES = `
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
  3  something differs, or the customer cannot be sent as it is
  1  it could not be found out of a customer; this goes before 3
  2  the call, the configuration, the environment or the token is wrong

Examples:
  rollcall explain 4711
  rollcall explain 4711 4712 --json
  rollcall explain 4711 --show-values     with the values of the fields
  rollcall explain 4711 --no-call         without asking the service
  rollcall explain 4711 --calls 50        with the last fifty calls
  rollcall explain '["ES", "4711"]'       a customer with two key columns`

/** `rollcall explain <key…>`: everything about one customer, gathered once. */
export const explainCommand: AddCommand = (program, io, exit) => {
  program
    .command('explain')
    .description('show everything about a customer, and what to do')
    .argument('<key...>', 'customer keys')
    .option(...CONFIG_OPTION)
    .option('--no-call', 'do not ask the service')
    .option('--show-values', 'show what the fields hold')
    .option('--calls <number>', 'show so many of the last calls (default: 5)')
    .option('--token-file <file>', "file with an end user's access token, - for stdin; asks the chat too")
    .option(...JSON_OPTION)
    .addHelpText('after', EXAMPLES)
    .action(async (keys, options) => {
      const { call, showValues = false, json = false, tokenFile } = options
      const calls = options.calls === undefined ? 5 : readLimit(options.calls, '--calls')
      const config = await loadConfig(options.config, io.cwd)
      const asked = { config, keys, view: 'all', call, calls, tokenFile, showValues, json } as const
      const told = await explainAll(io, asked)
      exit(told === null ? 1 : exitForResults(told.explanations))
    })
}
