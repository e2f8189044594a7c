import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

type Entry = {
  readonly integrity?: string
  readonly resolved?: string
  readonly link?: boolean
  readonly inBundle?: boolean
}
const lock: { readonly packages: Readonly<Record<string, Entry>> } = JSON.parse(
  readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8'),
)
const installed = Object.entries(lock.packages).filter(([path]) => path !== '')

test('every package of the lock file has its digest', () => {
  const fetched = installed.filter(([, { link, inBundle }]) => !link && !inBundle)
  expect(fetched.length).toBeGreaterThan(100)
  expect(fetched.filter(([, { integrity = '' }]) => !integrity.startsWith('sha512-'))).toEqual([])
})

test('the lock file names no registry', () => {
  expect(installed.filter(([, { resolved, link }]) => resolved !== undefined && !link)).toEqual([])
})
