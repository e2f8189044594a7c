// All benchmarks one after the other, or the one that is named with its arguments.
// Run: npm run bench [-- NAME [arguments]], after `npm ci --prefix bench/pipelines` (throughput alone needs that).
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ALL = ['throughput', 'capture', 'latency', 'overtaking', 'backfill']
const [name, ...args] = process.argv.slice(2)
const wanted = name === undefined ? ALL : [name]
if (name !== undefined && !ALL.includes(name))
  stop(`There is no benchmark ${name}; there are ${ALL.join(', ')}.`)
if (wanted.includes('throughput') && !existsSync(new URL('pipelines/node_modules', import.meta.url)))
  stop('The pipelines to compare with are not installed: npm ci --prefix bench/pipelines')

for (const each of wanted) {
  if (name === undefined) process.stdout.write(`\n${each}\n`)
  const file = fileURLToPath(new URL(`${each}.ts`, import.meta.url))
  const [code] = await once(spawn(process.execPath, [file, ...args], { stdio: 'inherit' }), 'close')
  if (code !== 0) process.exitCode = 1
}

function stop(why: string): never {
  process.stderr.write(`${why}\n`)
  process.exit(2)
}
