// npm run chaos -- --minutes 2 --seed N [--lane redis|postgres] [--service preset|odd]
import { parseArgs } from 'node:util'
import { runChaos } from './run.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '2' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
    lane: { type: 'string', default: 'redis' },
    service: { type: 'string', default: 'preset' },
    quiet: { type: 'boolean', default: false },
  },
})
const minutes = Number(values.minutes)
const seed = Number(values.seed)
const { lane, service } = values
if (!(minutes > 0) || !Number.isInteger(seed)) throw new Error('--minutes and --seed take numbers')
if (lane !== 'redis' && lane !== 'postgres') throw new Error('--lane takes redis or postgres')
if (service !== 'preset' && service !== 'odd') throw new Error('--service takes preset or odd')

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    // Servers and workers have guardians, which end them as soon as we are gone.
    if (stop.signal.aborted) process.exit(130)
    stop.abort()
  })
}

const started = performance.now()
const say = (line: string) => void process.stdout.write(`${line}\n`)
const tell = (what: string) => {
  if (!values.quiet) say(`${((performance.now() - started) / 1000).toFixed(1).padStart(7)} ${what}`)
}
const again = `npm run chaos -- --minutes ${minutes} --seed ${seed} --lane ${lane} --service ${service}`
say(again)
try {
  const { findings, histories, summary } = await runChaos({
    seed,
    minutes,
    lane,
    service,
    tell,
    signal: stop.signal,
  })
  for (const history of histories) say(history)
  say(summary)
  for (const finding of findings) say(`FOUND: ${finding}`)
  say(
    findings.length === 0
      ? 'No finding.'
      : `${findings.length} findings, seed ${seed}. To repeat it: ${again}`,
  )
  process.exitCode = findings.length === 0 ? 0 : 1
} catch (error) {
  if (!stop.signal.aborted) say(`seed ${seed}. To repeat it: ${again}`)
  if (!stop.signal.aborted) throw error
  say('stopped')
  process.exitCode = 130
}
