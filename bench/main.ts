// All benchmarks one after the other, or the one that is named with its arguments.
// Run: npm run bench [-- NAME [arguments]], after `npm ci --prefix bench/pipelines` (throughput alone needs that).
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const ALL = ['throughput', 'capture', 'latency', 'overtaking', 'backfill']
const [name, ...args] = process.argv.slice(2)
if (name !== undefined && !ALL.includes(name)) throw new Error(`no benchmark ${name}: ${ALL.join(', ')}`)

for (const each of name === undefined ? ALL : [name]) {
  if (name === undefined) process.stdout.write(`\n${each}\n`)
  const file = fileURLToPath(new URL(`${each}.ts`, import.meta.url))
  const [code] = await once(spawn(process.execPath, [file, ...args], { stdio: 'inherit' }), 'close')
  if (code !== 0) process.exitCode = 1
}
