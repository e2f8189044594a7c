import { forgetAnswers, readAnswers, type SeenAnswer } from '../ledger/answers.ts'
import { OTHERS } from '../ledger/calls.ts'
import { minute } from '../report/figures.ts'
import { withTables } from './connect.ts'
import type { AddCommand } from './io.ts'
import { columns, shown, tell } from './render.ts'

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
      await withTables(io, async (pool) => {
        if (forget) {
          const forgotten = await forgetAnswers(pool)
          const said = `forgotten: ${forgotten} distinct answers; the log of calls stays`
          return tell(io, json, { forgotten }, () => [said])
        }
        const answers = await readAnswers(pool)
        tell(io, json, answers, () => sayAnswers(answers, io.terminal))
      })
      exit(0)
    })
}

/** Wider than other output: shapes are hard to read in pieces. */
const COLUMNS = 100
const INDENT = ' '.repeat(7)

const HEAD = ['CALL', 'ANSWER', 'BODY', 'TAKEN AS', 'COUNT', 'FIRST', 'LAST']

/** The answers as a table; each with its shape below it, folded where a person reads it and in one line elsewhere. */
export function sayAnswers(answers: readonly SeenAnswer[], terminal: boolean): string[] {
  if (answers.length === 0) return ['no answer of the service has been recorded yet']
  const rows = answers.map((answer) => [
    answer.method,
    sayStatus(answer),
    answer.body ?? '-',
    answer.meaning,
    String(answer.count),
    minute(answer.firstAt),
    minute(answer.lastAt),
  ])
  const [head = '', ...told] = columns([HEAD, ...rows])
  return [
    head,
    ...told.flatMap((row, index) => [row, ...sayMore(answers[index], terminal)]),
    '',
    'TAKEN AS is what rollcall made of it. In a body, * is a key that may be a value, and (fields)',
    'are the optional fields of a user, of which each user has others.',
    '`rollcall sync --history KEY` shows the calls of a customer.',
  ]
}

function sayStatus({ status, error, shape }: SeenAnswer): string {
  if (shape === OTHERS) return 'others'
  return status === null ? (error ?? 'none') : String(status)
}

function sayMore(answer: SeenAnswer | undefined, terminal: boolean): string[] {
  if (!answer) return []
  const { shape, lastKey } = answer
  return [
    ...(shape === null ? [] : sayShape(shape, terminal)),
    `${INDENT}last for customer ${shown(lastKey)}`,
  ]
}

function sayShape(shape: string, terminal: boolean): string[] {
  if (shape === OTHERS) return [`${INDENT}more kinds of answers than are kept apart, counted together`]
  const text = shown(shape)
  return (terminal ? folded(text) : [text]).map((part) => INDENT + part)
}

/** Between two members, so that a name stays with its type; what follows stands one further in. */
function folded(shape: string): string[] {
  const parts: string[] = []
  for (const member of shape.split(/(?<=[,|]) /)) {
    const last = parts.at(-1)
    if (last === undefined) parts.push(member)
    else if (INDENT.length + last.length + 1 + member.length <= COLUMNS)
      parts[parts.length - 1] = `${last} ${member}`
    else parts.push(` ${member}`)
  }
  return parts
}
