import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'

const MODULE = new URL('../../src/cli/small-heap.ts', import.meta.url).href

/** Page after page of 1000 customers, of which nothing is kept; prints the largest heap that it had, in bytes. */
const PAGES = `
import { setImmediate } from 'node:timers/promises'
import { getHeapStatistics } from 'node:v8'
let peak = 0
for (let page = 0; page < 40; page++) {
  const rows = new Map()
  for (let row = 0; row < 1000; row++) {
    const fields = Object.fromEntries(Array.from({ length: 20 }, (_, at) => ['field' + at, 'value ' + page + ' ' + row]))
    rows.set('key' + row, { fields, text: JSON.stringify(fields) })
    if (row % 100 === 0) await setImmediate()
  }
  peak = Math.max(peak, getHeapStatistics().total_heap_size)
}
process.stdout.write(String(peak))`

function peak(before: string, options: readonly string[] = []): number {
  const args = [...options, '--input-type=module', '-e', before + PAGES]
  const ended = spawnSync(process.execPath, args, { encoding: 'utf8' })
  // V8 complains there of an option that it does not know (any more).
  expect(ended).toMatchObject({ status: 0, stderr: '' })
  return Number(ended.stdout)
}

test('pages of which nothing is kept take far less memory than V8 would give them', () => {
  const restart = `import { restartWithSmallHeap } from '${MODULE}'; restartWithSmallHeap();`
  const small = peak(restart)
  expect(small).toBeLessThan(0.75 * peak(''))
  expect(peak(restart, ['--permission', '--allow-fs-read=*'])).toBeGreaterThan(small)
})
