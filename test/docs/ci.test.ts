// A filter that matches no file is no error to vitest, so what `.ci/run` names could be gone without a word.
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

test('each file that .ci/run runs in another time zone is in the small run', () => {
  const script = readFileSync(`${ROOT}/.ci/run`, 'utf8')
  const [command = ''] = /^TZ=\S+ npm test -- (?:.*\\\n)*.*$/m.exec(script) ?? []
  const filters = command.split(/\s+/).filter((word) => word.startsWith('test/'))
  expect(filters.length).toBeGreaterThan(5)
  const small = globSync('test/**/*.test.ts', { cwd: ROOT }).filter((file) => !file.endsWith('.full.test.ts'))
  expect(filters.filter((filter) => !small.some((file) => file.startsWith(filter)))).toEqual([])
})
