// Rules that keep the source navigable.
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const IMPORTED = /(?:from|import\() ?'([^']+)'/g
const LOADED = /^(?:import(?! type)|\})[^']*? from '([^']+)'/gm
const EXPORTED = /^export (?:async )?(?:function\*?|const|class|type) (\w+)/gm

const PLANNING = 'brake capture config customers database ledger model pace sync'

/** Imports that a folder may have besides its own, in the order in which data flows; a name with a slash is one file. */
const ARROWS: Readonly<Record<string, string>> = {
  'index.ts': 'config',
  model: '',
  database: 'model',
  config: 'model',
  customers: 'config database model',
  capture: 'config customers database model',
  ledger: 'capture database model pace',
  pace: 'database model',
  brake: 'config database ledger model',
  dispatch: 'capture database ledger model pace',
  service: 'config model',
  sync: 'brake config customers database ledger model pace service',
  sweep: PLANNING,
  drift: `${PLANNING} service`,
  ops: 'config model',
  explain: 'capture config customers database drift ledger model ops pace service sync',
  report: 'model drift/words.ts drift/tally.ts',
  worker: `${PLANNING} dispatch drift ops service sweep`,
  sandbox: 'model ops service',
  embedded: 'model',
  demo: `${PLANNING} dispatch drift embedded explain ops sandbox service sweep worker`,
  cli: `${PLANNING} dispatch drift explain ops report service sweep worker`,
  // Only these start stand-ins.
  'cli/sandbox.ts': 'sandbox',
  'cli/demo.ts': 'demo',
}

/** Packages that few may import, with those who do. */
const KEPT: Readonly<Record<string, RegExp>> = {
  bullmq: /^(?:dispatch\/|ledger\/migrate\.ts)/,
  ioredis: /^dispatch\//,
}

/** By file, its path below src; what it imports of the project as such paths, and packages by name. */
async function readImports(): Promise<ReadonlyMap<string, readonly string[]>> {
  return new Map(
    [...(await sources())].map(([file, source]) => [
      file,
      [...source.matchAll(IMPORTED)].map(([, target = '']) =>
        target.startsWith('.') ? normalize(join(dirname(file), target)) : target,
      ),
    ]),
  )
}

async function sources(): Promise<ReadonlyMap<string, string>> {
  const all = await readdir(join(ROOT, 'src'), { recursive: true })
  const files = all.filter((file) => file.endsWith('.ts'))
  return new Map(
    await Promise.all(
      files.map(async (file) => [file, await readFile(join(ROOT, 'src', file), 'utf8')] as const),
    ),
  )
}

function mayImport(file: string, target: string): boolean {
  const [folder = ''] = file.split('/')
  if (!target.endsWith('.ts')) {
    const few = KEPT[target.split('/')[0] ?? '']
    if (few) return few.test(file)
    return folder !== 'model' || target === 'zod' || target.startsWith('validator')
  }
  const [other = ''] = target.split('/')
  const allowed = `${ARROWS[file] ?? ''} ${ARROWS[folder] ?? ''}`.split(' ')
  return other === folder || allowed.includes(other) || allowed.includes(target)
}

test('an import goes along the arrows between the folders, and nowhere else', async () => {
  const imports = await readImports()
  const against = [...imports].flatMap(([file, targets]) =>
    targets.filter((target) => !mayImport(file, target)).map((target) => `${file} -> ${target}`),
  )
  expect(against).toEqual([])
  expect([...imports.values()].flat().length).toBeGreaterThan(1000)
  expect(mayImport('sync/a.ts', 'worker/worker.ts')).toBe(false)
  expect(mayImport('sync/a.ts', 'bullmq')).toBe(false)
  expect(mayImport('drawer/a.ts', 'model/user.ts')).toBe(false)
})

/** A path of files that ends where it began; null: there is none. */
function circleIn(imports: ReadonlyMap<string, readonly string[]>): readonly string[] | null {
  const done = new Set<string>()
  const follow = (file: string, path: readonly string[]): readonly string[] | null => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file]
    if (done.has(file)) return null
    for (const next of imports.get(file) ?? []) {
      const circle = follow(next, [...path, file])
      if (circle) return circle
    }
    done.add(file)
    return null
  }
  for (const file of imports.keys()) {
    const circle = follow(file, [])
    if (circle) return circle
  }
  return null
}

test('no file imports itself through others', async () => {
  const imports = await readImports()
  expect(imports.size).toBeGreaterThan(100)
  expect(circleIn(imports)).toBeNull()
  expect(circleIn(new Map(Object.entries({ a: ['b'], b: ['c'], c: ['b'] })))).toEqual(['b', 'c', 'b'])
})

test.for(['worker', 'drift', 'backfill', 'demo'])('%s loads no slow library at its start', async (name) => {
  const [all, seen] = [await sources(), new Set([`cli/${name}.ts`])]
  for (const file of seen)
    for (const [, target = ''] of (all.get(file) ?? '').matchAll(LOADED))
      seen.add(target.startsWith('.') ? normalize(join(dirname(file), target)) : target)
  expect(seen.size).toBeGreaterThan(10)
  expect([...seen].filter((target) => /^(?:bullmq|undici|fastify)/.test(target))).toEqual([])
})

test('no exported name stands for two things', async () => {
  const places = new Map<string, string[]>()
  for (const [file, source] of await sources())
    for (const [, name = ''] of source.matchAll(EXPORTED))
      places.set(name, [...(places.get(name) ?? []), file])
  expect(places.size).toBeGreaterThan(500)
  expect([...places].filter(([, files]) => files.length > 1)).toEqual([])
})
