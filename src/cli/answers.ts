import { type DistinctAnswer, forgetAnswers, OTHERS, readAnswers } from '../ledger/calls.ts'
import { counted, minute } from '../report/figures.ts'
import { withDatabase } from './connect.ts'
import type { AddCommand } from './io.ts'
import { JSON_OPTION } from './option-values.ts'
import { columns, hanging, tell } from './render.ts'
import { answerOf } from './render-history.ts'

const EXAMPLES = `
The service does not document its answers to writes, nor its errors. So rollcall
stores each distinct answer and how often it came: the method, the status, the
shape of the body (types and names, never a value), and how rollcall classified
the answer. The command needs DATABASE_URL only, and no configuration.

Examples:
  rollcall answers --forget    after a release of the service`

export const answersCommand: AddCommand = (program, io) => {
  program
    .command('answers')
    .option('--forget', 'delete the stored answers, and start counting again')
    .option(...JSON_OPTION)
    .addHelpText('after', EXAMPLES)
    .action(async ({ forget = false, json }) => {
      await withDatabase(io, {}, async (pool) => {
        if (forget) {
          const forgotten = await forgetAnswers(pool)
          const said = `${counted(forgotten, 'distinct answer is', 'distinct answers are')} deleted; the log of calls stays`
          return tell(io, json, { forgotten }, () => [said])
        }
        const answers = await readAnswers(pool)
        tell(io, json, answers, () => renderAnswers(answers))
      })
    })
}

const INDENT = ' '.repeat(7)

const HEAD = ['CALL', 'ANSWER', 'BODY', 'MEANING', 'COUNT']

const BODIES = [
  ['BODY', ''],
  ['user', 'the user that a GET asked for'],
  ['other', 'after a write: another user_id or status than in the call'],
  ['error', 'JSON that reports an error'],
  ['null', 'the JSON value null'],
  ['readable', 'any other JSON, such as a good answer to a write'],
  ['unreadable', 'no JSON'],
  ['none', 'an empty body'],
  ['-', 'no answer, or the answers of this row had different bodies'],
]

export function renderAnswers(answers: readonly DistinctAnswer[]): string[] {
  if (answers.length === 0) return ['no answer of the service has been recorded yet']
  const rows = answers.map(({ method, status, error, shape, body, meaning, count }) => {
    const answer = shape === OTHERS ? 'others' : answerOf({ status, error })
    return [method, answer, body ?? '-', meaning, String(count)]
  })
  const below = (row: number) => answers.slice(row, row + 1).flatMap(renderBelow)
  return [
    ...columns([HEAD, ...rows], { below }),
    '',
    ...columns(BODIES),
    '',
    'MEANING: how rollcall classified the answer. The line below a row shows the',
    'names and types in the body: * is any name, and (fields) stands for the optional',
    'fields of a user.',
    '`rollcall failures KEY` shows the last calls of a customer.',
  ]
}

function renderBelow({ shape, firstAt, lastAt, lastKey }: DistinctAnswer): string[] {
  return [
    ...(shape === null
      ? []
      : hanging(INDENT, shape === OTHERS ? 'further kinds of answers, counted together' : shape)),
    ...hanging(INDENT, `first ${minute(firstAt)}; last ${minute(lastAt)}, for customer ${lastKey}`),
  ]
}
