#!/usr/bin/env node
// The very first file: it must run on an old Node too, to say which one is needed.
import process from 'node:process'

const NEEDED = 24
const LONG = ['worker', 'backfill', 'drift']
const major = Number(process.versions.node.split('.')[0])

if (major < NEEDED) {
  process.stderr.write(`rollcall needs Node ${NEEDED} or newer; this is Node ${process.versions.node}.\n`)
  process.exitCode = 2
} else {
  if (LONG.includes(process.argv[2] ?? '')) (await import('./small-heap.ts')).restartWithSmallHeap()
  const { runCommandLine } = await import('./main.ts')
  await runCommandLine()
}
