// All benchmarks one after the other but those that take long, or the one that is named with its arguments. `--quick`: small
// ones, to see that they work.
// Run: npm run bench [-- NAME [arguments]] [-- --quick], after `npm ci --prefix bench/pipelines` (throughput needs that).
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ALL = ['throughput', 'capture', 'latency', 'overtaking', 'checks', 'workers', 'backfill', 'start']
const LONG = ['scale']
const given = process.argv.slice(2)
const name = given.find((text) => !text.startsWith('-'))
const args = given.filter((text) => text !== name)
const wanted = name === undefined ? ALL : [name]
if (name !== undefined && ![...ALL, ...LONG].includes(name))
  stop(`There is no benchmark ${name}; there are ${[...ALL, ...LONG].join(', ')}.`)
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
