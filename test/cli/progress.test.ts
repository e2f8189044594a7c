import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { withProgress } from '../../src/cli/progress.ts'

test('a terminal shows at once that it begins; a line clears the picture, and at the end nothing is left', async () => {
  const screen = Object.assign(new PassThrough({ encoding: 'utf8' }), { columns: 80 })
  const io = { screen, err: (line: string) => screen.write(`${line}\n`) } as never
  await withProgress(io, async ({ err }, progress) => {
    expect(screen.read()).toBe('starting')
    err('note')
    progress.show({ verb: 'compared', done: 1, total: 4, note: '1 differs' })
    await expect.poll(() => screen.readableLength).toBeGreaterThan(20)
  })
  const CLEAR = '\x1b[1G\x1b[2K'
  expect(screen.read()).toBe(`${CLEAR}note\n${CLEAR}1 of 4 compared (25 %); 1 differs${CLEAR}`)
})
