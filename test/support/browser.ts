// A real Chromium for what only a browser can show: the one that CHROMIUM names, or that is on the PATH.
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome']

const BROWSER = findBrowser()

export const WITHOUT_BROWSER = BROWSER === null

function findBrowser(): string | null {
  if (process.env.CHROMIUM) return process.env.CHROMIUM
  const folders = (process.env.PATH ?? '').split(delimiter)
  const candidates = folders.flatMap((folder) => NAMES.map((name) => join(folder, name)))
  return candidates.find((file) => existsSync(file)) ?? null
}

export async function openBrowser(): Promise<Browser> {
  if (BROWSER === null)
    throw new Error('no Chromium: install the package chromium, or name its program in CHROMIUM')
  // Its sandbox refuses to run for root, and containers seldom allow it; the pages are our own.
  return await chromium.launch({ executablePath: BROWSER, args: ['--no-sandbox'] })
}
