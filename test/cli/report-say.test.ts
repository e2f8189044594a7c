import { describe, expect, test } from 'vitest'
import { sayReport } from '../../src/cli/say-report.ts'
import { aFinding, aReport, manyFindings } from '../report/scene.ts'

const AGREES = 'Everybody who was checked agrees'

describe('a report in the terminal', () => {
  test('ends with the conclusion, after who it is about', () => {
    const lines = sayReport(aReport())
    const text = lines.join('\n')
    expect(text).toMatch(/^unexpected-access +1 {2}removed or out of scope/m)
    expect(text).toMatch(/^access lost +1 .*\naccess undue +1 .*\nchecked/m)
    expect(text).toMatch(/^1 +missing +lost +edited-at-service/m)
    expect(text).toMatch(/^5 +trial-ended +– +– /m)
    expect(lines.findIndex((line) => line.startsWith('CUSTOMER'))).toBeLessThan(
      lines.findIndex((line) => line.startsWith('1 customer without the access')),
    )
  })

  test('names fifty, and says where the others are', () => {
    const lines = sayReport(aReport({ findings: manyFindings(1234) }))
    expect(lines.filter((line) => /^10\d{4} /.test(line))).toHaveLength(50)
    expect(lines).toContain('and 1,184 more; --format html, csv or json has all of them')
  })

  test('tells no kind and no agreement where the answers cannot be believed', () => {
    const { counts } = aReport()
    const outcome = { kind: 'not-credible', why: 'nobody-there' } as const
    const all = {
      ...counts,
      agrees: 12,
      kinds: { missing: 1938 },
      causes: { 'edited-at-service': 1938 },
      fields: {},
    }
    const said = sayReport(aReport({ outcome, counts: all, findings: [] })).join('\n')
    expect(said).toContain('The service says that it does not know most of the customers.')
    expect(said).not.toMatch(/^(missing|agree|cause)/m)
    expect(said).not.toContain(AGREES)
  })

  test('obeys nothing that comes from outside, and stays within eighty columns around its table', () => {
    const shown = [{ field: 'email', here: 'a\u001b[2J', service: null }] as const
    const lines = sayReport(aReport({ findings: [aFinding({ key: 'k\u001b[2J\u202e', shown })] }))
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it is about
    expect(lines.join('')).not.toMatch(/[\u0000-\u001f\u202e]/)
    expect(lines.join('\n')).toContain('email: "a\\u001b[2J" here, – at the service')
    const table = lines.findIndex((line) => line.startsWith('CUSTOMER'))
    const around = lines.filter((_, n) => n < table || n > table + 2)
    expect(around.filter((line) => line.length > 80)).toEqual([])
  })
})
