// docs/failure-modes.md names every sign of a failure that an operator meets, and no sign that does not exist.
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { REASON_CODES } from '../../src/ledger/reason.ts'
import { ERRORS, type ErrorCode } from '../../src/model/errors.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const page = readFileSync(`${ROOT}/docs/failure-modes.md`, 'utf8')
const sources = globSync('**/*.ts', { cwd: `${ROOT}/src` }).map((file) =>
  readFileSync(`${ROOT}/src/${file}`, 'utf8'),
)
const code = sources.join('\n')
const HEAD = '| what | what happens | what you see | what to do |'

const named = new Set([...page.matchAll(/`([^`]+)`/g)].map(([, text]) => text ?? ''))

/** Errors of commands that start their own servers, and of a mistyped command line. */
const NOT_OF_A_WORKER: readonly ErrorCode[] = [
  'EMBEDDED_UNAVAILABLE',
  'EMBEDDED_FAILED',
  'ADDRESS_TAKEN',
  'USAGE',
]

describe('the page of failures', () => {
  test('has one form: every table has the same four columns, all of them filled', () => {
    const rows = page.split('\n').filter((line) => line.startsWith('| '))
    const heads = rows.filter((row) => row === HEAD)
    expect(heads).toHaveLength(page.split('\n').filter((line) => line.startsWith('## ')).length)
    for (const row of rows) expect(row).toMatch(/^(\| [^|]*\S[^|]* ){4}\|$/)
  })

  test('names every reason for which a customer waits', () => {
    expect(REASON_CODES.filter((reason) => !named.has(reason))).toEqual([])
  })

  test('names every error that ends a worker or a command beside it', () => {
    const codes = (Object.keys(ERRORS) as ErrorCode[]).filter((error) => !NOT_OF_A_WORKER.includes(error))
    expect(codes.filter((error) => !named.has(error))).toEqual([])
    const invented = [...named].filter(
      (text) => /^[A-Z]+(_[A-Z]+)+$/.test(text) && !(text in ERRORS) && !code.includes(text),
    )
    expect(invented).toEqual([])
  })

  test('names every mark of capture and every state of a table', () => {
    const kinds = /capture_mark_kind.*IN \(([^)]+)\)/.exec(code)?.[1]?.match(/\w+/g) ?? []
    expect(kinds).toEqual(['truncate', 'overflow'])
    const states = /export type TableState = (.+)/.exec(code)?.[1]?.match(/\w+/g) ?? []
    expect(states).toContain('disabled')
    for (const word of [...kinds, ...states.filter((state) => state !== 'fits')])
      expect([...named]).toContain(word)
  })

  test('gives the words of the log as the code has them', () => {
    const lines = [...page.matchAll(/log: \*([^*]+)\*/g)].map(([, words]) => words ?? '')
    expect(lines.length).toBeGreaterThan(10)
    expect(lines.filter((words) => !code.includes(words))).toEqual([])
  })
})
