// node test/protocol/measure.ts [runs]: how many runs end wrong with all guards, and without each.
// node test/protocol/measure.ts replay <seed> [guard]: the history of one run.
import { GUARD_NAMES, type Guard, without } from './guards.ts'
import { run } from './run.ts'
import type { Theme } from './scene.ts'

const say = (line: string) => void process.stdout.write(`${line}\n`)

function count(runs: number, removed: readonly Guard[]): string {
  const guards = without(...removed)
  const theme = process.argv[3] ? { theme: process.argv[3] as Theme } : {}
  let broken = 0
  let wrong = 0
  let first: number | null = null
  for (let seed = 1; seed <= runs; seed++) {
    const outcome = run({ seed, guards, ...theme })
    if (outcome.broken !== null) broken++
    if (outcome.wrong !== null) {
      wrong++
      first ??= seed
    }
  }
  const name = (removed[0] ?? 'all guards').padEnd(28)
  return `${name} wrong at the end ${String(wrong).padStart(6)}  broken on the way ${String(broken).padStart(6)}  first seed ${first ?? '-'}`
}

const [first = '20000', seed, guard] = process.argv.slice(2)
if (first === 'replay') {
  const removed = GUARD_NAMES.filter((name) => name === guard)
  for (const line of run({ seed: Number(seed), guards: without(...removed), withHistory: true }).history)
    say(line)
} else {
  say(count(Number(first), []))
  for (const name of GUARD_NAMES) say(count(Number(first), [name]))
}
