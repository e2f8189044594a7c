import type { SeenAnswer } from '../ledger/answers.ts'
import { OTHERS } from '../ledger/calls.ts'
import { columns } from './render-history.ts'
import { shown } from './shown.ts'

/** Wider than other output: shapes are hard to read in pieces. */
const COLUMNS = 100
const INDENT = ' '.repeat(7)

const HEAD = ['CALL', 'ANSWER', 'BODY', 'TAKEN AS', 'COUNT', 'FIRST (UTC)', 'LAST (UTC)']

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

function minute(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 16)}`
}
