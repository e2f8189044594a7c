// The visible part of a page, as the browser reports it.
import type { Page } from 'playwright-core'

/** The key of the finding in the middle of the list. */
export function inTheMiddle(page: Page): Promise<string> {
  return page.evaluate(() => {
    const area = document.querySelector('.area')
    area?.scrollIntoView({ block: 'nearest' })
    const { left = 0, top = 0, width = 0, height = 0 } = area?.getBoundingClientRect() ?? {}
    const row = document.elementFromPoint(left + width / 2, top + height / 2)?.closest('tbody tr')
    return row?.querySelector('bdi')?.textContent ?? ''
  })
}

/** Cells whose text runs over into the next. */
export function tooWide(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll('tbody td, tbody th, dd, h1, p')]
      .filter(
        (element) =>
          element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).display !== 'inline',
      )
      .map((element) => `${element.tagName} ${element.textContent}`),
  )
}

/** Texts with less contrast than WCAG 2.2 asks for (1.4.3, AA): 4.5, or 3 where they are large. */
export function faintTexts(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const partsOf = (colour: string) => (colour.match(/[\d.]+/g) ?? []).map(Number)
    const lightOf = (colour: string) => {
      const [red = 0, green = 0, blue = 0] = partsOf(colour).map((part) => {
        const share = part / 255
        return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
      })
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue
    }
    const behind = (element: Element | null): string => {
      if (element === null) return 'rgb(255, 255, 255)'
      const colour = getComputedStyle(element).backgroundColor
      return partsOf(colour)[3] === 0 ? behind(element.parentElement) : colour
    }
    const contrastOf = (element: Element, colour: string) => {
      const [dark = 0, light = 0] = [lightOf(colour), lightOf(behind(element))].sort((a, b) => a - b)
      return (light + 0.05) / (dark + 0.05)
    }
    const faint = new Set<string>()
    const judge = (element: Element, style: CSSStyleDeclaration, text: string) => {
      const size = Number.parseFloat(style.fontSize)
      const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700)
      const contrast = contrastOf(element, style.color)
      if (contrast < (large ? 3 : 4.5)) faint.add(`${text.slice(0, 40)}: ${contrast.toFixed(2)}`)
    }
    for (const element of document.querySelectorAll('body *')) {
      if (!element.checkVisibility()) continue
      const own = [...element.childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE)
      const text = own
        .map((node) => node.textContent)
        .join('')
        .trim()
      if (text !== '') judge(element, getComputedStyle(element), text)
      if (element instanceof HTMLInputElement)
        judge(element, getComputedStyle(element, '::placeholder'), element.placeholder)
    }
    return [...faint]
  })
}
