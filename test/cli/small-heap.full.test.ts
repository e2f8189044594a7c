import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'

const MODULE = new URL('../../src/cli/small-heap.ts', import.meta.url).href
const RESTART = `import { restartWithSmallHeap } from '${MODULE}'; restartWithSmallHeap();`

/** The most that the heap of a process may take, in bytes: the new generation, which the limits make smaller, is a part of it. */
function heapLimit(before: string, options: readonly string[] = []): number {
  const script = `${before} const v8 = await import('node:v8'); process.stdout.write(String(v8.getHeapStatistics().heap_size_limit))`
  const args = [...options, '--input-type=module', '-e', script]
  const ended = spawnSync(process.execPath, args, { encoding: 'utf8' })
  // V8 complains there of an option that it does not know (any more).
  expect(ended).toMatchObject({ status: 0, stderr: '' })
  return Number(ended.stdout)
}

test('V8 gets limits for its memory, unless Node may start no program', () => {
  const usual = heapLimit('')
  expect(heapLimit(RESTART)).toBeLessThan(usual)
  expect(heapLimit(RESTART, ['--permission', '--allow-fs-read=*'])).toBe(usual)
})
