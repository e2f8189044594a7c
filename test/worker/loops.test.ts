import pg from 'pg'
import { expect, test } from 'vitest'
import { makeLog } from '../../src/ops/log.ts'
import { makeLoops } from '../../src/worker/waiting.ts'

/** A loop whose first steps fail with these errors; what a log of the level shows of it. */
async function play(errors: readonly Error[], level: 'info' | 'debug') {
  const stop = new AbortController()
  const lines: { msg: string; why?: string[] }[] = []
  const log = makeLog(level, { stream: { write: (line: string) => lines.push(JSON.parse(line)) } })
  const left = [...errors]
  const loops = makeLoops({ log, role: 'the role r (V)', signal: stop.signal, watch: undefined })
  await loops.every(1, 'sweep', async () => {
    const error = left.shift()
    if (error) throw error
    stop.abort()
  })
  return lines
}

const DOWN = new Error('a value')
const FAILED = 'a step of the worker failed: the worker will retry it'

test('a right that is gone is reported in the words of Postgres, any other error by its name alone', async () => {
  const refusal = new pg.DatabaseError('permission denied for table owed', 0, 'error')
  const lines = await play([Object.assign(refusal, { code: '42501' }), DOWN], 'debug')
  const why = ['the role r (V): permission denied for table owed']
  expect(lines.slice(0, 2).map((line) => line.why)).toEqual([why, undefined])
  expect(JSON.stringify(lines)).not.toContain('a value')
})

test.each([
  ['info', 1, []],
  ['debug', 1, [FAILED, 'the step works again']],
  ['info', 2, [FAILED, 'the step works again']],
] as const)('on level %s, %i failures log their recovery: %j', async (level, failures, said) => {
  expect((await play(Array(failures).fill(DOWN), level)).map(({ msg }) => msg)).toEqual(said)
})
