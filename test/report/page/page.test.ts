// The page in a real Chromium, opened from a file, as its readers do.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bundlePage } from '../../../scripts/page.mjs'
import { type Assets, readAssets } from '../../../src/report/assets.ts'
import { htmlPage } from '../../../src/report/html.ts'
import type { PastRun, Report } from '../../../src/report/report.ts'
import { openBrowser, WITHOUT_BROWSER } from '../../support/browser.ts'
import { aFinding, aReport, manyFindings } from '../scene.ts'

const DESK = { width: 1280, height: 900 }
const PHONE = { width: 390, height: 844 }

const HOSTILE = [
  '</script><script>document.title = "hit"</script>',
  '<img src=x onerror="document.title = \'hit\'">',
  '"><svg onload=document.title="hit">',
  '<!--<script>',
  "javascript:document.title='hit'",
]

const TREND: PastRun[] = [1, 8, 15].map((day) => ({
  kind: 'round',
  endedAt: `2026-11-${String(day).padStart(2, '0')}T03:00:00.000Z`,
  checked: 1900,
  drifting: day,
  sampled: false,
  credible: true,
}))

describe.skipIf(WITHOUT_BROWSER)('the page', { timeout: 60_000 }, () => {
  let folder: string
  let assets: Assets
  let browser: Browser

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rollcall-page-'))
    await bundlePage(folder)
    assets = await readAssets(pathToFileURL(`${folder}/`))
    browser = await openBrowser()
  }, 60_000)

  afterAll(async () => {
    await browser?.close()
    await rm(folder, { recursive: true, force: true })
  })

  /** Whatever the browser complains about, and every request besides the file, is kept in `trouble`. */
  async function open(report: Report, options: BrowserContextOptions = {}) {
    const file = join(folder, `${Math.random()}.html`)
    await writeFile(file, htmlPage(report, assets))
    const page = await browser.newPage({ viewport: DESK, ...options })
    const trouble: string[] = []
    page.on('console', (message) => trouble.push(message.text()))
    page.on('pageerror', (error) => trouble.push(String(error)))
    const address = pathToFileURL(file).href
    page.on('request', (request) => request.url() !== address && trouble.push(request.url()))
    await page.goto(address)
    return { page, trouble, [Symbol.asyncDispose]: () => page.close() }
  }

  test.each([
    ['a desk', DESK],
    ['a phone', PHONE],
  ])('fits %s, draws every chart, and asks for nothing but itself', async (_, viewport) => {
    const wide = aFinding({ id: '9', key: 'k'.repeat(300), userId: 'ñ'.repeat(300) })
    const report = aReport({ trend: TREND, findings: [...aReport().findings, wide] })
    await using opened = await open(report, { viewport })
    const { page, trouble } = opened
    expect(await inkOf(page)).toEqual([true, true, true, true])
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(viewport.width)
    expect(await page.locator('h1').textContent()).toBe(
      '1 customer without the access that they should have, 1 with access that they should not have. ' +
        '5 of 1,950 customers checked (0.26 %) do not agree with the service.',
    )
    // A screen reader gets the figures, whatever is drawn.
    await page.locator('figure[data-filter=kind] summary').click()
    await expect.poll(() => page.locator('figure[data-filter=kind] tbody').textContent()).toContain('Missing')
    expect(trouble).toEqual([])
  })

  test('shows what is hostile, and runs none of it', async () => {
    const findings = HOSTILE.map((text, n) =>
      aFinding({
        id: String(n),
        key: text,
        userId: text,
        shown: [{ field: 'email', here: text, service: { text } }],
      }),
    )
    const { options, target } = aReport()
    const report = aReport({
      findings,
      target: { ...target, origin: HOSTILE[0] ?? '' },
      options: { ...options, values: true, where: HOSTILE[1] ?? '' },
    })
    await using opened = await open(report)
    const { page, trouble } = opened
    const keys = await page.locator('#list tbody td:first-child').allInnerTexts()
    expect(keys).toEqual(HOSTILE)
    expect(await page.title()).toContain('</script>')
    expect(await page.locator('img, svg, body script:not(#findings, :last-of-type)').count()).toBe(0)
    expect(trouble).toEqual([])
  })

  test('would not run it either if it came through: the policy knows its own script alone', async () => {
    await using opened = await open(aReport())
    const { page, trouble } = opened
    await page.evaluate(() => {
      const script = document.createElement('script')
      script.textContent = 'document.title = "hit"'
      document.body.append(script)
    })
    expect(await page.title()).not.toBe('hit')
    expect(trouble.join()).toContain('Content Security Policy')
  })

  test('lists 10,000 findings with few rows at a time, to the very last', async () => {
    await using opened = await open(aReport({ findings: manyFindings(10_000) }), { viewport: PHONE })
    const { page } = opened
    const rows = page.locator('#list tbody tr[role=row]')
    expect(await rows.count()).toBeLessThan(1000)
    for (const part of [0.3, 0.6, 0.9]) {
      await page.evaluate((share) => scrollTo(0, share * document.body.scrollHeight), part)
      // Whatever is in the middle of the screen is a finding, not a gap.
      await expect.poll(() => inTheMiddle(page)).toMatch(/^10\d{4}/)
    }
    await expect
      .poll(async () => {
        await page.evaluate(() =>
          document.querySelector('#list tbody:last-child')?.scrollIntoView({ block: 'end' }),
        )
        return await rows.last().textContent()
      })
      .toContain('109999')
    expect(await rows.count()).toBeLessThan(1000)
    expect(await page.locator('#list').getAttribute('aria-rowcount')).toBe('10001')
    expect(await rows.last().getAttribute('aria-rowindex')).toBe('10001')
  })

  test('finds one of 10,000 by any of its words, and all of them again', async () => {
    await using opened = await open(aReport({ findings: manyFindings(10_000) }))
    const { page } = opened
    const count = page.locator('#count')
    const rows = page.locator('#list tbody tr[role=row]')
    await page.getByLabel('Search').fill('MISSING 104320')
    await expect.poll(() => count.textContent()).toBe('1 of 10,000 findings')
    expect(await rows.count()).toBe(1)
    expect(await rows.textContent()).toContain('104320')
    await page.getByLabel('Search').fill('access lost 104320')
    await expect.poll(() => count.textContent()).toBe('1 of 10,000 findings')
    await page.getByLabel('Search').fill('nobody at all')
    await expect.poll(() => count.textContent()).toBe('0 of 10,000 findings')
    await page.getByRole('button', { name: 'Show all' }).click()
    await expect.poll(() => count.textContent()).toBe('10,000 findings')
    await page.getByRole('combobox', { name: 'Kind' }).selectOption('unexpected-access')
    await expect.poll(() => count.textContent()).toBe('910 of 10,000 findings')
    await page.getByRole('combobox', { name: 'Kind' }).selectOption('')
    await page.getByRole('combobox', { name: 'Field' }).selectOption('email')
    const kinds = await page.locator('#list tbody td[data-label=Fields]').allInnerTexts()
    expect(kinds.every((fields) => fields.includes('email'))).toBe(true)
  })

  test('a click on a bar lists those whom it counts', async () => {
    await using opened = await open(aReport({ findings: manyFindings(50) }))
    const { page } = opened
    // The first bar has the most.
    await page.locator('figure[data-filter=kind] canvas').click({ position: { x: 150, y: 24 } })
    await expect.poll(() => page.getByRole('combobox', { name: 'Kind' }).inputValue()).toBe('differs')
    const kinds = await page.locator('#list tbody td:nth-child(3)').allInnerTexts()
    expect(new Set(kinds)).toEqual(new Set(['Differs']))
  })

  test('on paper has every finding and the tables, in the colours of paper', async () => {
    await using opened = await open(aReport({ findings: manyFindings(2500) }), { colorScheme: 'dark' })
    const { page } = opened
    const rows = page.locator('#list tbody tr[role=row]')
    const text = () => page.evaluate(() => getComputedStyle(document.body).color)
    expect(await text()).toBe('rgb(230, 233, 238)')
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')))
    expect(await rows.count()).toBe(2500)
    expect(await text()).toBe('rgb(28, 36, 48)')
    expect(await page.locator('figure tbody').first().isVisible()).toBe(true)
    await page.evaluate(() => dispatchEvent(new Event('afterprint')))
    await expect.poll(() => rows.count()).toBeLessThan(1000)
  })

  test('says the same where no script may run, as far as it goes', async () => {
    await using opened = await open(aReport({ findings: manyFindings(150) }), { javaScriptEnabled: false })
    const { page } = opened
    expect(await page.locator('#list tbody tr').count()).toBe(100)
    expect(await page.locator('figure tbody').first().isVisible()).toBe(true)
    expect(await page.locator('noscript').textContent()).toContain('50 more')
    expect(await page.locator('#controls').isVisible()).toBe(false)
  })
})

/** Whether anything is drawn on each canvas. */
function inkOf(page: Page): Promise<boolean[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll('canvas')].map((canvas) => {
      const { data } = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height) ?? {
        data: [],
      }
      return data.some((value) => value !== 0)
    }),
  )
}

function inTheMiddle(page: Page): Promise<string> {
  return page.evaluate(() => {
    const row = document.elementFromPoint(innerWidth / 2, innerHeight / 2)?.closest('tr[role=row]')
    return row?.querySelector('bdi')?.textContent ?? ''
  })
}
