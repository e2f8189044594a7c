import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { bundlePage } from '../../../scripts/page.mjs'
import { htmlPage, readAssets } from '../../../src/report/html.ts'
import type { Report } from '../../../src/report/report.ts'
import { openBrowser } from '../../support/browser.ts'

export const DESK = { width: 1280, height: 900 }
export const PHONE = { width: 390, height: 844 }

/** Whatever the browser complains about, and every request besides the file, is kept in `trouble`. */
export type Opened = AsyncDisposable & { readonly page: Page; readonly trouble: readonly string[] }

export type Reader = {
  open(report: Report, options?: BrowserContextOptions): Promise<Opened>
  close(): Promise<void>
}

export async function makeReader(): Promise<Reader> {
  const folder = await mkdtemp(join(tmpdir(), 'rollcall-page-'))
  const [browser] = await Promise.all([openBrowser(), bundlePage(folder)])
  const assets = await readAssets(pathToFileURL(`${folder}/`))
  return {
    async open(report, options = {}) {
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
    },
    async close() {
      await browser.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
