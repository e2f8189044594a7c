// npm run chaos -- --minutes 2 --seed N [--lane redis|postgres]
import { parseArgs } from 'node:util'
import { runChaos } from './run.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '2' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
    lane: { type: 'string', default: 'redis' },
  },
})
const [minutes, seed, lane] = [Number(values.minutes), Number(values.seed), values.lane]
if (!(minutes > 0) || !Number.isInteger(seed)) throw new Error('--minutes and --seed take numbers')
if (lane !== 'redis' && lane !== 'postgres') throw new Error('--lane takes redis or postgres')

const stop = new AbortController()
process.once('SIGINT', () => stop.abort())

const started = performance.now()
const say = (line: string) => void process.stdout.write(`${line}\n`)
const tell = (what: string) => say(`${((performance.now() - started) / 1000).toFixed(1).padStart(7)} ${what}`)
say(`npm run chaos -- --minutes ${minutes} --seed ${seed} --lane ${lane}`)
const { findings, summary } = await runChaos({ seed, minutes, lane, tell, signal: stop.signal })
for (const finding of findings) say(`FOUND: ${finding}`)
say(`${summary}; ${findings.length === 0 ? 'no finding' : `${findings.length} findings`}, seed ${seed}`)
process.exitCode = findings.length === 0 ? 0 : 1
