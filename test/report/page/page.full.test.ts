// The page in a real Chromium, opened from a file, as its readers do. Opening one takes long, so each of the tests goes
// on with the page that the ones before it have left.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WITHOUT_BROWSER } from '../../support/browser.ts'
import { aFinding, aReport, manyFindings } from '../scene.ts'
import { DESK, makeReader, type Opened, PHONE, type Reader } from './reader.ts'
import { HOSTILE, hostileReport, TREND } from './scenes.ts'
import { faintTexts, inTheMiddle, tooWide } from './visible.ts'

describe.skipIf(WITHOUT_BROWSER)('the page', () => {
  let reader: Reader
  const open: Reader['open'] = (...given) => reader.open(...given)
  beforeAll(async () => {
    reader = await makeReader()
  })
  afterAll(() => reader?.close())

  describe('of a few findings', () => {
    let opened: Opened
    beforeAll(async () => {
      const wide = aFinding({ id: '9', key: 'k'.repeat(300), userId: 'ñ'.repeat(300) })
      const shown = [{ field: 'email', here: 'e'.repeat(200), service: '' }] as const
      const findings = [...aReport().findings, wide, aFinding({ id: '10', shown })]
      opened = await open(aReport({ trend: TREND, findings }))
    })
    afterAll(() => opened?.page.close())

    test.each([
      ['a desk', DESK],
      ['a phone', PHONE],
    ])('fits %s, draws every chart, and asks for nothing but itself', async (_, viewport) => {
      const { page, trouble } = opened
      await page.setViewportSize(viewport)
      const longest = await page
        .locator('figure')
        .evaluateAll((figures) =>
          figures.map((figure) =>
            Math.max(...[...figure.querySelectorAll('rect')].map((bar) => bar.getBoundingClientRect().width)),
          ),
        )
      expect(longest.map((width) => width > 60)).toEqual([true, true, true, true])
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(viewport.width)
      expect(await tooWide(page)).toEqual([])
      expect(await page.evaluate(() => document.querySelector('h1')?.textContent)).toMatch(
        /^1 customer is wrongly without .*, 1 is wrongly with .* 1,950 checked customers .*\(0\.31 %\)/,
      )
      expect(trouble).toEqual([])
    })

    test('a screen reader gets the figures, and a name for whatever can be done', async () => {
      const { page } = opened
      expect(await page.locator('figure:has-text("By kind") tbody').textContent()).toContain('Missing')
      for (const name of ['Access', 'Kind', 'Cause', 'Field'])
        expect(await page.getByRole('combobox', { name }).count()).toBe(1)
      expect(await page.getByRole('table', { name: 'Findings' }).getByRole('rowheader').count()).toBe(7)
      await page.getByRole('searchbox', { name: 'Search' }).fill('user-3')
      await expect.poll(() => page.getByRole('status').textContent()).toBe('1 of 7 findings: “user-3”')
      await page.getByRole('button', { name: 'Show all' }).click()
    })

    test('the controls choose among the findings', async () => {
      const { page } = opened
      await page.setViewportSize(DESK)
      const kind = page.locator('[name=kind]')
      await kind.selectOption('differs')
      const cells = (label: string) => page.locator(`#list tbody [data-label=${label}]`).allTextContents()
      expect(await cells('Kind')).toEqual(['Differs', 'Differs', 'Differs'])
      await page.locator('[name=field]').selectOption('email')
      const fields = await cells('Fields')
      expect(fields.map((text) => text.includes('email'))).toEqual([true, true, true])
      await kind.selectOption('')
      await page.locator('[name=field]').selectOption('status')
      expect(await cells('Fields')).toEqual(['status '])
      await page.getByRole('button', { name: 'Show all' }).click()
      await page.locator('[name=access]').selectOption('lost')
      expect(await cells('Kind')).toEqual(['Missing'])
      expect(await page.getByRole('status').textContent()).toBe('1 of 7 findings: Access lost')
      await page.getByRole('button', { name: 'Show all' }).click()
      await expect.poll(() => page.getByRole('status').textContent()).toBe('7 findings')
    })

    test.each(['light', 'dark'] as const)('can be read by weak eyes, when it is %s', async (colorScheme) => {
      const { page } = opened
      await page.emulateMedia({ colorScheme })
      expect(await faintTexts(page)).toEqual([])
    })

    test('on paper is light and has the tables and the warning, and no controls', async () => {
      const { page } = opened
      await page.emulateMedia({ colorScheme: 'dark' })
      const text = () => page.evaluate(() => getComputedStyle(document.body).color)
      expect(await text()).toBe('rgb(230, 233, 238)')
      await page.emulateMedia({ media: 'print' })
      expect(await text()).toBe('rgb(28, 36, 48)')
      expect(await page.locator('figure tbody').last().isVisible()).toBe(true)
      expect(await page.locator('.personal').isVisible()).toBe(true)
      expect(await page.locator('#controls').isVisible()).toBe(false)
      await page.emulateMedia({ media: null, colorScheme: null })
    })

    test('runs no script but its own, also if one came through', async () => {
      const { page, trouble } = opened
      await page.evaluate(() => {
        const script = document.createElement('script')
        script.textContent = 'document.title = "hit"'
        document.body.append(script)
      })
      expect(await page.title()).not.toBe('hit')
      expect(trouble.join()).toContain('Content Security Policy')
    })
  })

  describe('of 10,000 findings', () => {
    let opened: Opened
    beforeAll(async () => {
      opened = await open(aReport({ findings: manyFindings(10_000) }))
    })
    afterAll(() => opened?.page.close())
    const rows = () => opened.page.evaluate(() => document.querySelectorAll('#list tbody tr').length)
    const count = () => opened.page.evaluate(() => document.querySelector('#count')?.textContent)
    const cells = (label: string) =>
      opened.page.evaluate(
        (of) =>
          [...document.querySelectorAll(`#list tbody [data-label="${of}"]`)].map(
            ({ textContent }) => textContent,
          ),
        label,
      )
    const words = () => opened.page.locator('#controls [name=words]')

    test('lists the first thousand, and says so', async () => {
      expect((await cells('Customer')).at(-1)).toBe('100999')
      expect(await count()).toMatch(/^10,000 findings\. Only the first 1,000 are listed/)
    })

    test.each([
      ['a desk', DESK],
      ['a phone', PHONE],
    ])(
      'scrolls them in an area of their own, also by keys, on %s; what follows stays near',
      async (_, viewport) => {
        const { page } = opened
        await page.setViewportSize(viewport)
        expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThan(
          7 * viewport.height,
        )
        await page.evaluate(() => {
          const area = document.querySelector<HTMLElement>('.area[role=region][aria-labelledby=found]')
          area?.scrollTo(0, 0)
          area?.focus()
        })
        await expect
          .poll(() => page.keyboard.press('End').then(() => inTheMiddle(page)))
          .toMatch(/^1009[89]\d$/)
        await page.evaluate(() => {
          const area = document.querySelector('.area')
          area?.scrollTo(0, 0.4 * area.scrollHeight)
        })
        await expect.poll(() => inTheMiddle(page)).toMatch(/^100[345]\d\d$/)
      },
    )

    test('finds one by any of its words, and all of them again', async () => {
      await opened.page.setViewportSize(DESK)
      await words().fill('MISSING 104320')
      await expect.poll(count).toBe('1 of 10,000 findings: “MISSING 104320”')
      expect(await cells('Customer')).toEqual(['104320'])
      await words().fill('nobody at all')
      await expect.poll(count).toContain('0 of 10,000 findings')
      expect(await rows()).toBe(0)
      await opened.page.locator('#controls [type=reset]').click()
      await expect.poll(count).toContain('10,000 findings. Only')
    })

    test('is printed to its end', async () => {
      const { page } = opened
      await page.locator('[name=kind]').selectOption('unexpected-access')
      expect(await rows()).toBe(910)
      await page.emulateMedia({ media: 'print' })
      const { area, last } = await page.evaluate(() => {
        const bottom = (of: string) => document.querySelector(of)?.getBoundingClientRect().bottom ?? 0
        return { area: bottom('.area'), last: bottom('#list tbody tr:last-child [data-label=State]') }
      })
      expect(last).toBeGreaterThan(910 * 10)
      expect(last).toBeLessThanOrEqual(area)
      expect(await count()).toBe('910 of 10,000 findings: Unexpected access')
      await page.emulateMedia({ media: null })
    })
  })

  test('shows what is hostile, and runs none of it', async () => {
    await using opened = await open(hostileReport())
    const { page, trouble } = opened
    expect(await page.locator('#list tbody [data-label=Customer]').allInnerTexts()).toEqual(HOSTILE)
    expect(await page.title()).toContain('</script>')
    expect(await page.locator('img, svg:not(.bar), body script:not(#findings, :last-of-type)').count()).toBe(
      0,
    )
    expect(trouble).toEqual([])
  })
})
