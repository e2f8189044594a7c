import pg from 'pg'
import { expect, test } from 'vitest'
import { makeLog } from '../../src/ops/log.ts'
import { makeLoops } from '../../src/worker/loops.ts'

/** A loop of which the first steps fail; what a log of the usual level shows of it. */
async function play(failing: number, level: 'info' | 'debug' = 'info') {
  const stop = new AbortController()
  const lines: { level: number; msg: string }[] = []
  const log = makeLog(level, { stream: { write: (line: string) => lines.push(JSON.parse(line)) } })
  const { every } = makeLoops({ log, signal: stop.signal, watch: undefined })
  let steps = 0
  await every(1, 'sweep', async () => {
    steps++
    if (steps <= failing) throw new Error('down')
    if (steps > failing + 2) stop.abort()
  })
  return lines.map(({ msg }) => msg)
}

test('a right that is gone is told in the words of Postgres, any other error by its name alone', async () => {
  const lines: { why?: string[] }[] = []
  const log = makeLog('debug', { stream: { write: (line: string) => lines.push(JSON.parse(line)) } })
  const stop = new AbortController()
  const { every } = makeLoops({ log, signal: stop.signal, watch: undefined })
  const refusal = Object.assign(new pg.DatabaseError('permission denied for table owed', 0, 'error'), {
    code: '42501',
  })
  const errors = [refusal, new Error('a value')]
  await every(1, 'sweep', async () => {
    const error = errors.shift()
    if (error) throw error
    stop.abort()
  })
  expect(lines.slice(0, 2).map(({ why }) => why)).toEqual([['permission denied for table owed'], undefined])
  expect(JSON.stringify(lines)).not.toContain('a value')
})

test('a failure that the log does not show has no recovery either', async () => {
  expect(await play(1)).toEqual([])
  expect(await play(1, 'debug')).toEqual(['a step failed and will be tried again', 'it works again'])
})

test('a failure that the log shows is followed by its recovery, once', async () => {
  expect(await play(2)).toEqual(['a step failed and will be tried again', 'it works again'])
})
