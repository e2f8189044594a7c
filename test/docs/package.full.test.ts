// A reader of the installed package has its pages only: no link may lead out of it.
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path/posix'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
type Packed = readonly { readonly files: readonly { readonly path: string }[] }[]

test('whatever the pages of the package link to is in the package', () => {
  const packing = ['pack', '--dry-run', '--ignore-scripts', '--json']
  const packed = execFileSync('npm', packing, { cwd: ROOT, stdio: ['ignore', 'pipe', 'ignore'] })
  const files = (JSON.parse(packed.toString()) as Packed)[0]?.files.map(({ path }) => path) ?? []
  const pages = files.filter((file) => file.endsWith('.md'))
  expect(pages).toEqual(expect.arrayContaining(['README.md', 'docs/errors.md', 'docs/failure-modes.md']))
  const links = pages.flatMap((page) =>
    [...readFileSync(join(ROOT, page), 'utf8').matchAll(/\]\((?!#|\w+:)([^)#\s]+)/g)].map(([, to = '']) => ({
      page,
      to: join(dirname(page), to),
    })),
  )
  expect(links.filter(({ page }) => page === 'README.md').length).toBeGreaterThan(10)
  expect(links.filter(({ to }) => !files.some((file) => file === to || file.startsWith(`${to}/`)))).toEqual(
    [],
  )
})

/** As GitHub makes it of a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-')

test('links between pages lead to headings that exist', () => {
  const pages = ['README.md', ...globSync('docs/*.md', { cwd: ROOT })]
  const read = (page: string) => readFileSync(join(ROOT, page), 'utf8')
  const links = pages.flatMap((page) =>
    [...read(page).matchAll(/\]\((?!\w+:)([^)#\s]*)#([^)\s]+)\)/g)].map(([, to = '', anchor = '']) => ({
      page,
      to: to ? join(dirname(page), to) : page,
      anchor,
    })),
  )
  expect(links.length).toBeGreaterThan(20)
  const broken = links.filter(
    ({ to, anchor }) =>
      ![...read(to).matchAll(/^#+ (.+)$/gm)].some(([, heading = '']) => anchorOf(heading) === anchor),
  )
  expect(broken).toEqual([])
})
