import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { htmlPage } from '../../src/report/html.ts'
import { asData, escapeHtml, markup } from '../../src/report/markup.ts'
import type { ReportedFinding } from '../../src/report/report.ts'
import { aFinding, aReport } from './scene.ts'

const ASSETS = { script: 'document.title', style: 'body { margin: 0 }' }

describe('the file', () => {
  const page = htmlPage(aReport(), ASSETS)

  test('lets its own script and style run, and nothing else', () => {
    const policy = /Content-Security-Policy" content="([^"]+)"/.exec(page)?.[1]?.replaceAll('&#39;', "'")
    const digest = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
    expect(policy?.split('; ')).toEqual([
      "default-src 'none'",
      `script-src ${digest(ASSETS.script)}`,
      `style-src ${digest(ASSETS.style)}`,
      "base-uri 'none'",
      "form-action 'none'",
    ])
  })

  test('names no address but the one that it is about', () => {
    expect(
      page.match(/https?:\/\/[^\s"'<]*/g)?.every((url) => url.startsWith('https://service.example')),
    ).toBe(true)
    expect(page).not.toMatch(/\s(src|href)=/)
  })

  test('has no figure for drift where the answers are not credible', () => {
    const { counts } = aReport()
    const outcome = { kind: 'not-credible', why: 'many-missing' } as const
    const all = { ...counts, checked: 2000, agrees: 0, kinds: { missing: 2000 } }
    const printed = htmlPage(aReport({ outcome, counts: all, findings: [] }), ASSETS)
    expect(printed).toMatch(/now missing at the service/)
    expect(printed).not.toContain('By kind')
    expect(printed).not.toContain('<dt>Agree</dt>')
  })

  test('has a row for customers that workers have not checked lately', () => {
    const { options } = aReport()
    const printed = htmlPage(aReport({ suspected: 0, options: { ...options, from: 'ledger' } }), ASSETS)
    expect(printed).toMatch(/Not checked lately<.*<td>50</)
    expect(page).not.toContain('Not checked lately')
  })

  test('shows a trend from two runs on, and leaves out figures that are not credible', () => {
    const run = { kind: 'run', checked: 100, drifting: 1, sampled: false, credible: true } as const
    const trend = [
      { ...run, endedAt: '2026-11-01T00:00:00.000Z' },
      { ...run, endedAt: '2026-11-08T00:00:00.000Z', drifting: 100, credible: false },
    ]
    expect(page).not.toContain('Customers that differ, over time')
    const drawn = htmlPage(aReport({ trend }), ASSETS)
    const shares = [...drawn.matchAll(/UTC<\/th>.*?<\/tr>/gs)].map(([row]) => row)
    expect(shares[0]).toMatch(/>1 %<.*<rect/s)
    expect(shares[1]).toContain('not credible')
    expect(shares[1]).not.toContain('<rect')
  })

  test('tells access first, in figures and in the list', () => {
    const [first] = /<dt>[^<]*<\/dt><dd>[^<]*<\/dd>/.exec(page) ?? []
    expect(first).toBe('<dt>Access lost</dt><dd>1</dd>')
    expect(page).toContain('data-label="Access">undue<')
    const counts = { ...aReport().counts, access: { undue: 9 }, heldAccess: { undue: 9 } }
    expect(htmlPage(aReport({ counts }), ASSETS)).toMatch(
      /<dt>Access undue<\/dt><dd>9<\/dd><dd class="note">wrongly with .+ \(all 9 held [^)]*\)</,
    )
  })
})

const HARD = fc.constantFrom(...'<>&"\'/!-s;#\u0000\n\u202eé😀')

const reported = (findings: readonly ReportedFinding[]) => htmlPage(aReport({ findings }), ASSETS)

test('the list has one column for customer and user where their ids are the same everywhere, and says so', () => {
  const titles = (html: string) =>
    [...html.matchAll(/<th role="columnheader"[^>]*>([^<]*)/g)].map(([, title]) => title)
  const same = ['7', '8'].map((id) => aFinding({ key: id, userId: id }))
  const alike = reported(same)
  expect(titles(alike)).not.toContain('User')
  expect(alike.match(/<(th|td) role="(rowheader|cell)"/g)).toHaveLength(2 * titles(alike).length)
  expect(alike).toMatch(/user_id is the customer/)
  for (const userId of ['u-9', null]) {
    const differing = reported([...same, aFinding({ key: '9', userId })])
    expect(titles(differing)).toContain('User')
    expect(differing).not.toMatch(/user_id is the customer/)
  }
})

test('a page with values says that it holds personal data, and no other page does', () => {
  const shown = [{ field: 'email', here: 'ana@example.es', service: '' }] as const
  const reported = htmlPage(aReport({ findings: [aFinding({ shown })] }), ASSETS)
  expect(reported).toContain('personal data')
  expect(reported).toContain('“ana@example.es” here, empty at the service')
  const page = htmlPage(aReport(), ASSETS)
  expect(page).not.toContain('personal data')
  expect(page).toContain('<code>rollcall failures</code>')
  expect(page).toContain('--show-values')
})

describe('what comes from outside', () => {
  test('is never markup', () => {
    fc.assert(
      fc.property(fc.string({ unit: HARD }), (text) => {
        expect(escapeHtml(text)).not.toMatch(/[<>"']|&(?!(amp|lt|gt|quot|#39);)/)
        expect(
          markup`<p title="${text}">${[markup`<b>${text}</b>`]}</p>`.html.match(/<[^>]*>/g),
        ).toHaveLength(4)
      }),
    )
  })

  test('ends no element from within the data, and is data again when it is read', () => {
    const hostile = ['</script><script>', '<!--<script>', '\u2028', ']]>']
    const { html } = asData(hostile)
    expect(html).not.toContain('<')
    expect(JSON.parse(html)).toEqual(hostile)
  })
})
