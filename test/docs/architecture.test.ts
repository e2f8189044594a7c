// docs/architecture.md names files, tables, columns, types and functions that exist.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

const read = (file: string) => readFileSync(file, 'utf8')
const named = [...read('docs/architecture.md').matchAll(/`([^`]+)`/g)].map(([, text = '']) => text)
const paths = globSync('{src,test}/**').map((path) => `/${path}/`)
const code = globSync('{src/**/*.ts,drizzle/*.sql}').map(read).join('\n')
/** The words of the code, without those of comments and texts. */
const prose = /\/\*.*?\*\/|(\/\/|--) [^\n]*|'[^'\n]*'/gs
const words = new Set(code.replaceAll(prose, (text) => (text.includes(' ') ? '' : text)).match(/\w+/g))

test('names no file and no folder that does not exist', () => {
  const files = named.filter((text) => /^[\w/.-]+(\.ts|\/)$/.test(text))
  expect(files.length).toBeGreaterThan(100)
  const exists = (file: string) => paths.some((path) => path.endsWith(`/${file.replace(/\/$/, '')}/`))
  expect(files.filter((file) => !exists(file))).toEqual([])
})

test('names no column, type or function that does not exist', () => {
  const names = named.filter((text) => /^[a-z_]\w*(\.[a-z_]+)*$/i.test(text) && !text.endsWith('.ts'))
  expect(names.filter((name) => !name.split('.').every((part) => words.has(part)))).toEqual([])
})

test.each(['change', 'check'])('a file on the way of a %s uses no file that comes later there', (way) => {
  const page = read('docs/architecture.md').split(`# Follow a ${way}`)[1]?.split('\n# ')[0] ?? ''
  const files = [...page.matchAll(/^\| \d+ \| `([^`]+)`/gm)].map(([, file = '']) => file)
  expect(files.length).toBeGreaterThan(10)
  const late = files.flatMap((file, i) => {
    const imports = [...read(join('src', file)).matchAll(/ from '(\.[^']+)'/g)]
    const used = imports.map(([, path = '']) => join(dirname(file), path))
    return used.filter((other) => files.indexOf(other) > i).map((other) => `${file}: ${other}`)
  })
  expect(late).toEqual([])
})
