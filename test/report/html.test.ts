import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { htmlPage } from '../../src/report/html.ts'
import { asData, escapeHtml, markup } from '../../src/report/markup.ts'
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

  test('is not written with a script that would end its own element', () => {
    expect(() => htmlPage(aReport(), { ...ASSETS, script: '"</SCRIPT>"' })).toThrow('its own element')
  })

  test('has no figure for drift where the answers cannot be believed', () => {
    const { counts } = aReport()
    const outcome = { kind: 'not-credible', why: 'nobody-there' } as const
    const all = { ...counts, checked: 2000, agrees: 0, kinds: { missing: 2000 } }
    const doubtful = htmlPage(aReport({ outcome, counts: all, findings: [] }), ASSETS)
    expect(doubtful).toContain('does not know most of the customers')
    expect(doubtful).not.toContain('data-filter="kind"')
    expect(doubtful).not.toContain('<dt>Agree</dt>')
  })

  test('shows a trend from two runs on, and leaves out figures that nobody believes', () => {
    const run = { kind: 'round', checked: 100, drifting: 1, sampled: false, credible: true } as const
    const trend = [
      { ...run, endedAt: '2026-11-01T00:00:00.000Z' },
      { ...run, endedAt: '2026-11-08T00:00:00.000Z', drifting: 100, credible: false },
    ]
    expect(page).not.toContain('data-chart="trend"')
    const drawn = htmlPage(aReport({ trend }), ASSETS)
    expect(drawn).toContain('data-at="2026-11-01T00:00:00.000Z" data-share="0.01"')
    expect(drawn).not.toContain('data-at="2026-11-08')
    expect(drawn).toContain('not credible')
  })

  test('tells access first, in figures and in the list', () => {
    const [first] = /<dt>[^<]*<\/dt><dd>[^<]*<\/dd>/.exec(page) ?? []
    expect(first).toBe('<dt>Access lost</dt><dd>1</dd>')
    expect(page).toContain('data-label="Access"><div>undue</div>')
  })

  test('tells values only when they are in the report', () => {
    expect(page).toContain('left out of this report')
    const shown = [{ field: 'email', here: 'ana@example.es', service: '' }] as const
    const told = htmlPage(aReport({ findings: [aFinding({ shown })] }), ASSETS)
    expect(told).toContain('“ana@example.es” here, empty there')
  })
})

const HARD = fc.constantFrom(...'<>&"\'/!-s;#\u0000\n\u202eé😀')

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
