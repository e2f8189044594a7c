// CPU and time of a command until its first line in a terminal: its modules, the configuration, and what it asks the servers.
// Run: npm run bench -- start [rounds]
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { BIN, buildBenchHouse, insertCustomers } from './house.ts'
import { numbers, publish } from './results.ts'
import { cpuOf } from './service.ts'

const [rounds] = numbers([9], [3])
const COMMANDS = [
  '--help',
  'status --help',
  'worker --help',
  'status',
  'failures',
  'explain 1',
  'sync 1',
  'drift --restart',
  'backfill --dry-run',
  'worker',
]

await using house = await buildBenchHouse({ queue: 'redis' })
await insertCustomers(house.pool, 1, 100)
const { cwd, env } = house.here
const measured = COMMANDS.map((command) => ({ command, cpu: [] as number[], ms: [] as number[] }))
for (let round = 0; round < rounds; round++)
  for (const { command, cpu, ms } of measured) {
    const started = performance.now()
    // `script` gives it a terminal. The shell waits, so that the CPU of a command that has ended can still be read.
    const line = `${process.execPath} ${BIN} ${command}; sleep 10`
    const terminal = spawn('script', ['-qfec', line, '/dev/null'], {
      ...{ cwd, env: { ...env, LOG_LEVEL: 'info' } },
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    const closed = once(terminal, 'close')
    await once(terminal.stdout, 'readable')
    ms.push(performance.now() - started)
    const [shell = ''] = childrenOf(terminal.pid)
    cpu.push(1000 * ((cpuOf(shell, true) ?? Number.NaN) + (cpuOf(childrenOf(shell)[0] ?? '') ?? 0)))
    terminal.stdout.resume()
    terminal.kill()
    await closed
  }

function childrenOf(pid: string | number | undefined): string[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
}

publish({
  name: 'start',
  about: `Until the first line of a command, ${rounds} rounds`,
  columns: [{ title: '' }, { title: 'CPU', unit: 'ms' }, { title: 'time', unit: 'ms' }],
  rows: measured.map(({ command, cpu, ms }) => [`rollcall ${command}`, cpu, ms]),
})
