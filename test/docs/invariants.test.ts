import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'

const root = (path: string) => new URL(`../../${path}`, import.meta.url)

/** Lines of the page that name a test: `- <file>: <name of the test, or its beginning>`. */
const NAMED = /^\s*- (test\/\S+\.ts): (.+)$/gm

test('every invariant names tests, and they exist', async () => {
  const page = await readFile(root('docs/invariants.md'), 'utf8')
  const promises = page.split(/^(?=\d+\. )/m).slice(1)
  const missing: string[] = []
  for (const promise of promises) {
    const named = [...promise.matchAll(NAMED)]
    if (named.length === 0) missing.push(`no test: ${promise.slice(0, 80)}`)
    for (const [, file = '', name = ''] of named) {
      const source = await readFile(root(file), 'utf8').catch(() => '')
      const spelled = [`'${name}`, `"${name}`, `\`${name}`]
      if (!spelled.some((start) => source.includes(start))) missing.push(`${file}: ${name}`)
    }
  }
  expect(missing).toEqual([])
  expect(promises.map((promise) => Number.parseInt(promise, 10))).toEqual(promises.map((_, at) => at + 1))
})
