// node test/protocol/measure.ts [runs]: counts the runs that end wrong with all guards, and without each.
// node test/protocol/measure.ts replay <seed> [guard]: the history of one run, with a guard removed or none.
import { GUARD_NAMES, GUARDS, without } from './guards.ts'
import { run } from './run.ts'
import { count } from './search.ts'

const say = (line: string) => void process.stdout.write(`${line}\n`)

const [first = '20000', seed, name] = process.argv.slice(2)
if (first === 'replay') {
  const guard = GUARD_NAMES.find((guard) => guard === name)
  const theme = guard === undefined ? {} : { theme: GUARDS[guard][1] }
  const guards = guard === undefined ? without() : without(guard)
  for (const line of run({ seed: Number(seed), guards, ...theme, withHistory: true }).history) say(line)
} else {
  const runs = Number(first)
  const all = count({ guards: without() }, runs)
  say(`all guards: ${all.wrong} of ${runs} wrong, ${all.broken} broken on the way`)
  for (const guard of GUARD_NAMES) {
    const { bad, wrong, broken, firstSeed } = count({ guards: without(guard), theme: GUARDS[guard][1] }, runs)
    say(
      `${guard} (${GUARDS[guard][1]}): ${bad} bad: ${wrong} wrong, ${broken} broken on the way, first seed ${firstSeed}`,
    )
  }
}
