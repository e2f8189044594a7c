import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { csv } from '../../src/report/csv.ts'
import { aFinding, aReport } from './scene.ts'

/** The key of one finding, as a spreadsheet reads it. */
function cellOf(key: string): string | undefined {
  return parse(written([aFinding({ key })]))[1]?.[0]
}

function written(findings: ReturnType<typeof aFinding>[], values = false): string {
  const report = aReport({ findings })
  return csv({ ...report, options: { ...report.options, values } })
    .map((line) => `${line}\n`)
    .join('')
}

const HARD = fc.constantFrom(...'",;\r\n\t \'=+-@aé😀\u2028\ufeff')

describe('the table of findings', () => {
  test('has a row for each, and a title for each cell', () => {
    const [titles = [], ...rows] = parse(
      written([aFinding({ kind: 'missing' }), aFinding({ id: '2', userId: null })]),
    )
    expect(titles.join()).toBe(
      'key,user_id,kind,access,fields,cause,first_seen,last_seen,checks,repairs,resolved_at,resolved_how',
    )
    expect(rows.map((cells) => cells.slice(0, 5))).toEqual([
      ['1', 'user-1', 'missing', 'lost', ''],
      ['2', '', 'differs', '', 'email mobile_phone'],
    ])
  })

  test('has values only when they were asked for', () => {
    const findings = [aFinding({ shown: [{ field: 'email', here: 'a@b.example', service: null }] })]
    expect(written(findings)).not.toContain('a@b.example')
    const [titles = [], row = []] = parse(written(findings, true))
    expect(titles.slice(-2)).toEqual(['here', 'service'])
    expect(row.slice(-2)).toEqual(['{"email":"a@b.example"}', '{"email":null}'])
  })

  test('comes back as it was written, whatever the keys are made of', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: HARD }), { minLength: 1, maxLength: 5 }), (keys) => {
        const rows = parse(written(keys.map((key, n) => aFinding({ id: String(n), key }))))
        expect(rows).toHaveLength(keys.length + 1)
        for (const [n, row] of rows.slice(1).entries()) {
          expect(row).toHaveLength(12)
          // An apostrophe in front is the one thing that is ever added.
          expect([keys[n], `'${keys[n]}`]).toContain(row[0])
        }
      }),
    )
  })

  test.each([
    '=1+1',
    '+34600',
    '-1+cmd',
    '@SUM(A1)',
    '\t=1',
    '\r=1',
    '  =1',
    '\n@a',
    '＝1+1',
    '|cmd',
    '\ufeff=1',
  ])('a spreadsheet does not run %j', (key) => expect(cellOf(key)).toBe(`'${key}`))

  test.each(['1', '-1', '-1.5', 'a=b', 'x@y', '2026-11-22', "o'clock"])('%j stays as it is', (key) => {
    expect(cellOf(key)).toBe(key)
  })
})

/** RFC 4180 to the letter: CRLF between records, quotes doubled inside quotes. */
function parse(text: string): string[][] {
  const records: string[][] = []
  const record: string[] = []
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y
  while (cell.lastIndex < text.length) {
    const [, quoted, bare = '', end] = cell.exec(text) ?? []
    if (end === undefined) throw new Error(`no cell at ${cell.lastIndex}: ${JSON.stringify(text)}`)
    record.push(quoted?.replaceAll('""', '"') ?? bare)
    if (end === '\r\n') records.push(record.splice(0))
  }
  return records
}
