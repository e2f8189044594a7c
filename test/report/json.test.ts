import { expect, test } from 'vitest'
import { jsonForm, ndjson } from '../../src/report/json.ts'
import { aFinding, aReport } from './scene.ts'

test('the JSON form has what follows from the figures', () => {
  expect(jsonForm(aReport())).toMatchObject({
    conclusion: 'drift',
    drifting: 4,
    share: 4 / 1950,
    version: 1,
    population: 2000,
    counts: {
      ...{ kinds: { missing: 1, 'trial-ended': 1 }, noAnswer: { trouble: 7 } },
      ...{ access: { lost: 1, undue: 1 }, causes: { 'edited-at-service': 3 } },
    },
    resolvedMeanwhile: {},
    cannotBeVerified: expect.arrayContaining([expect.stringContaining('country_code')]),
  })
})

test('held customers are in the share, and answers that are not credible have no figure', () => {
  const { counts } = aReport()
  expect(jsonForm(aReport({ counts: { ...counts, skipped: { held: 6 } } }))).toMatchObject({
    ...{ drifting: 4, held: 6, share: 10 / 1956 },
  })
  const outcome = { kind: 'not-credible', why: 'many-missing' } as const
  expect(jsonForm(aReport({ outcome }))).toMatchObject({ drifting: null, share: null })
})

test('NDJSON has the report in its first line, then a finding in each', () => {
  const report = aReport({ findings: [aFinding(), aFinding({ id: '2', key: 'a\u2028b\u202e\u009bc\n' })] })
  const lines = ndjson(report)
  expect(lines.join('')).not.toMatch(/[\p{Cc}\u2028\u202e]/u)
  const [first, ...findings] = lines.map((line) => JSON.parse(line))
  expect(first).toMatchObject({ type: 'report', conclusion: 'drift' })
  expect(first).not.toHaveProperty('findings')
  expect(findings).toEqual(report.findings.map((finding) => ({ type: 'finding', ...finding })))
})
