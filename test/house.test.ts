// What keeps the source easy to find one's way in: imports run one way between files, and a name means one thing.
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const IMPORTED = /^(?:import|export)\s[^']*?from '(\.[^']+)'/gm
const EXPORTED = /^export (?:async )?(?:function\*?|const|class|type) (\w+)/gm

async function sources(): Promise<ReadonlyMap<string, string>> {
  const all = await readdir(join(ROOT, 'src'), { recursive: true })
  const files = all.filter((file) => file.endsWith('.ts')).map((file) => join('src', file))
  return new Map(
    await Promise.all(files.map(async (file) => [file, await readFile(join(ROOT, file), 'utf8')] as const)),
  )
}

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
  const imports = new Map(
    [...(await sources())].map(([file, source]) => {
      const targets = [...source.matchAll(IMPORTED)].map(([, target = '']) =>
        normalize(join(dirname(file), target)),
      )
      return [file, targets] as const
    }),
  )
  expect(imports.size).toBeGreaterThan(100)
  expect(circleIn(imports)).toBeNull()
  expect(
    circleIn(
      new Map([
        ['a', ['b']],
        ['b', ['c']],
        ['c', ['b']],
      ]),
    ),
  ).toEqual(['b', 'c', 'b'])
})

test('no exported name stands for two things', async () => {
  const places = new Map<string, string[]>()
  for (const [file, source] of await sources())
    for (const [, name = ''] of source.matchAll(EXPORTED))
      places.set(name, [...(places.get(name) ?? []), file])
  expect(places.size).toBeGreaterThan(500)
  expect([...places].filter(([, files]) => files.length > 1)).toEqual([])
})
