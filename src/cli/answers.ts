import { readEnv } from '../config/env.ts'
import { forgetAnswers, readAnswers } from '../ledger/answers.ts'
import { checkMigrated } from '../ledger/migrate.ts'
import { withPool } from './connect.ts'
import type { AddCommand } from './io.ts'
import { asJson } from './json.ts'
import { sayAnswers } from './say-answers.ts'

type Options = { readonly forget?: boolean; readonly json?: boolean }

const EXAMPLES = `
What the service answers to a write, and how it reports an error, is documented
nowhere. Every distinct answer is counted here: method, status, the shape of its
body (types and names, never a value), and what rollcall took it for. It reads
DATABASE_URL alone, and no configuration.

Examples:
  rollcall answers             what the service has ever answered
  rollcall answers --json      the same as JSON
  rollcall answers --forget    start anew, as after a release of the service`

/** `rollcall answers`: the contract of the service, as its answers have shown it. */
export const answersCommand: AddCommand = (program, io, exit) => {
  program
    .command('answers')
    .description('show every distinct answer of the service, and what it was taken for')
    .option('--forget', 'forget them, and count anew from here on')
    .option('--json', 'print it as JSON')
    .addHelpText('after', EXAMPLES)
    .action(async ({ forget = false, json = false }: Options) => {
      const { DATABASE_URL: url } = readEnv(io.env, { need: ['DATABASE_URL'] })
      await withPool({ url, stop: io.stop }, async (pool) => {
        await checkMigrated(pool)
        if (forget) {
          const forgotten = await forgetAnswers(pool)
          io.out(
            json ? asJson({ forgotten }) : `forgotten: ${forgotten} distinct answers; the log of calls stays`,
          )
          return
        }
        const answers = await readAnswers(pool)
        if (json) io.out(asJson(answers))
        else for (const text of sayAnswers(answers, io.terminal)) io.out(text)
      })
      exit(0)
    })
}
