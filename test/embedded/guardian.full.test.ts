import { existsSync } from 'node:fs'
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { guard } from '../../src/embedded/launch.ts'
import { until } from '../support/until.ts'
import { runs, startParent } from './processes.ts'

const STUBBORN = `process.on('SIGTERM', () => {}); setInterval(() => {}, 1e6); console.log('up')`

async function guarded(deadlineMs = 5_000) {
  const folder = await mkdtemp(join(tmpdir(), 'rollcall-guardian-'))
  const guardian = guard({ folder, lastSignal: 'SIGTERM', deadlineMs })
  const log = join(folder, 'log')
  const start = (script: string) =>
    guardian.start({ file: process.execPath, args: ['-e', script], env: {}, log })
  return { folder, guardian, log, start }
}

test('a parent that is killed leaves no server, no guardian and no folder', async () => {
  const { child, said } = await startParent(['sleeper'])
  expect(runs(said.pid)).toBe(true)
  child.kill('SIGKILL')
  await until(() => !runs(said.pid) && !runs(said.guardian ?? 0), { what: 'both are gone' })
  expect(existsSync(said.folder)).toBe(false)
})

test('a parent that finishes without stopping the server is not kept alive by it', async () => {
  const { ended, said } = await startParent(['sleeper', 'ends'])
  expect(await ended).toEqual([0, null])
  await until(() => !runs(said.pid) && !existsSync(said.folder), { what: 'server and folder are gone' })
})

test('Ctrl-C in the terminal does not reach the server', async () => {
  const { child, said } = await startParent(['sleeper'], { detached: true })
  // A terminal sends it to the whole foreground group.
  process.kill(-(child.pid ?? 0), 'SIGINT')
  await new Promise((resolve) => setTimeout(resolve, 200))
  expect(runs(said.pid)).toBe(true)
  child.kill('SIGKILL')
  await until(() => !runs(said.pid) && !existsSync(said.folder))
})

test('a server that ignores the signal is killed after the deadline', async () => {
  const { folder, guardian, log, start } = await guarded(200)
  const { pid, ended } = await start(STUBBORN)
  await until(async () => (await readFile(log, 'utf8')).includes('up'))
  await guardian.release()
  expect(await ended).toEqual({ code: null, signal: 'SIGKILL' })
  expect(runs(pid)).toBe(false)
  expect(existsSync(folder)).toBe(false)
})

test('tells when the server ends by itself, and keeps the folder until it is released', async () => {
  const { folder, guardian, start } = await guarded()
  await writeFile(join(folder, 'data'), 'kept')
  const running = await start('process.exit(7)')
  expect(await running.ended).toEqual({ code: 7, signal: null })
  expect(existsSync(join(folder, 'data'))).toBe(true)
  const again = await start('setInterval(() => {}, 1e6)')
  process.kill(again.pid, 'SIGTERM')
  expect(await again.ended).toEqual({ code: null, signal: 'SIGTERM' })
  await guardian.release()
  expect(existsSync(folder)).toBe(false)
})

test('a command that cannot be run is an error, not a wait', async () => {
  const { guardian, log } = await guarded()
  const command = { file: '/nowhere/server', args: [], env: {}, log }
  await expect(guardian.start(command)).rejects.toThrow('ENOENT')
  await guardian.release()
})

test('a guardian that was ended from outside takes the server with it and is noticed', async () => {
  const { folder, guardian, start } = await guarded()
  const running = await start('setInterval(() => {}, 1e6)')
  process.kill(guardian.pid, 'SIGTERM')
  await running.ended
  await guardian.release()
  expect(runs(running.pid)).toBe(false)
  expect(existsSync(folder)).toBe(false)
  await expect(start('0')).rejects.toThrow('guardian')
})
