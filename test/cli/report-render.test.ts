import { describe, expect, test } from 'vitest'
import { renderReport } from '../../src/cli/drift-print.ts'
import { aFinding, aReport, manyFindings } from '../report/scene.ts'

describe('a report in the terminal', () => {
  test('begins with the conclusion, and ends with the limits below one label', () => {
    const lines = renderReport(aReport())
    const text = lines.join('\n')
    expect(text).toMatch(/^unexpected-access +1 {2}removed or out of scope/m)
    expect(text).toMatch(/^access lost +1 .*\naccess undue +1 .*\nchecked/m)
    const counts = { ...aReport().counts, access: { lost: 9 }, heldAccess: { lost: 4 } }
    expect(renderReport(aReport({ counts })).join(' ').replaceAll(/ +/g, ' ')).toMatch(
      /access lost 9 wrongly without [^(]*\(4 of them held/,
    )
    expect(text).toMatch(/^1 +missing +lost +edited-at-service/m)
    expect(text).toMatch(/^5 +trial-ended +– +– /m)
    expect(lines[0]).toMatch(/^1 customer is wrongly without access/)
    expect(text).toMatch(
      /\nThis report does not show:\n {2}- country_code: .*\n {2}- Users (.|\n)*\n {2}- Values .*$/,
    )
  })

  test('names fifty, and says where the others are', () => {
    const lines = renderReport(aReport({ findings: manyFindings(1234) }))
    expect(lines.filter((line) => /^10\d{4} /.test(line))).toHaveLength(50)
    expect(lines).toContainEqual(expect.stringMatching(/^and 1,184 more; .*--format/))
  })

  test('prints no kind and no agreement where the answers are not credible', () => {
    const { counts } = aReport()
    const outcome = { kind: 'not-credible', why: 'many-missing' } as const
    const all = {
      ...counts,
      agrees: 12,
      kinds: { missing: 1938 },
      causes: { 'edited-at-service': 1938 },
      fields: {},
    }
    const said = renderReport(aReport({ outcome, counts: all, findings: [] })).join('\n')
    expect(said).toMatch(/now\s+missing\s+at\s+the\s+service/)
    expect(said).not.toMatch(/^(missing|cause)|agree/im)
  })

  test('has a row for customers that workers have not checked lately', () => {
    const { options, counts } = aReport()
    const ledger = { counts, suspected: 0, options: { ...options, from: 'ledger' } } as const
    expect(renderReport(aReport(ledger)).join('\n')).toMatch(/^not checked lately +50 /m)
    expect(renderReport(aReport()).join('\n')).not.toContain('lately')
  })

  test('obeys nothing that comes from outside, and stays within eighty columns', () => {
    const shown = [{ field: 'email', here: 'a\u001b[2J', service: null }] as const
    const lines = renderReport(aReport({ findings: [aFinding({ key: 'k\u001b[2J\u202e', shown })] }))
    expect(lines.join('')).not.toMatch(/[\p{Cc}\u202e]/u)
    expect(lines.join('\n')).toContain('email: "a\\u001b[2J" here, – at the service')
    expect(lines.filter((line) => line.length > 80)).toEqual([])
  })

  test('the command that goes on with a run is never folded', () => {
    const resume = `rollcall drift --where '${'x'.repeat(90)} y'`
    const outcome = { kind: 'stopped', why: 'asked', resume } as const
    expect(renderReport(aReport({ outcome }))).toContainEqual(
      expect.stringMatching(/To continue, run: .* y'$/),
    )
  })
})
