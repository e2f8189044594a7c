// Writes the references in docs/ from the code: commands, options of the configuration, metrics. --check fails where one
// would change.
//   node scripts/references.mjs [--check]
import { readFileSync, writeFileSync } from 'node:fs'
import process from 'node:process'
import { makeProgram } from '../src/cli/main.ts'
import { openOps } from '../src/worker/ops.ts'
import { showTables } from '../src/worker/tables.ts'

const cell = (text) => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ').trim()

const table = (head, rows) =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n')

/** Nothing where there are no terms. */
const terms = (head, rows) =>
  rows.length === 0
    ? []
    : [
        table(
          [head, 'what it does'],
          rows.map(([term, text]) => [`\`${term}\``, text]),
        ),
      ]

function commandParts(command, names) {
  const help = command.createHelp()
  const line = [...names, command.name()]
  const subcommands = help.visibleCommands(command).filter((each) => each.name() !== 'help')
  const options = help.visibleOptions(command).filter((option) => option.long !== '--help')
  return [
    `${'#'.repeat(line.length)} \`${line.join(' ')}\``,
    `\`\`\`text\n${help.commandUsage(command)}\n\`\`\``,
    help.commandDescription(command),
    ...terms(
      'argument',
      help.visibleArguments(command).map((each) => [help.argumentTerm(each), help.argumentDescription(each)]),
    ),
    ...terms(
      'option',
      options.map((each) => [help.optionTerm(each), help.optionDescription(each)]),
    ),
    ...subcommands.flatMap((each) => commandParts(each, line)),
  ]
}

async function commands() {
  const program = await makeProgram(
    () => true,
    {},
    () => {},
  )
  const all = program.commands.filter((each) => each.name() !== 'help')
  return all.flatMap((each) => commandParts(each, ['rollcall'])).join('\n\n')
}

/** From the doc comments of RollcallConfig: each ends with its default, unless the option is required. */
function options() {
  const source = readFileSync(new URL('../src/config/define.ts', import.meta.url), 'utf8')
  const [, type = ''] = source.split('export type RollcallConfig')
  const rows = []
  let path = []
  for (const [, comment, indent, name, optional] of type.matchAll(
    /(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*\n)?^( +)readonly (\w+)(\??):/gm,
  )) {
    path = [...path.slice(0, indent.length / 2 - 1), name]
    if (!comment) continue
    const text = cell(comment.replaceAll(/^\s*\* ?/gm, ''))
    const [meaning, given] = text.split(/ Default: (?=.*\.$)/)
    const preset = given?.slice(0, -1) ?? (optional ? '' : 'required')
    rows.push([`\`${path.join('.')}\``, meaning, preset])
  }
  return table(['key', 'meaning', 'default'], rows)
}

/** Name, type, labels and help of each metric in a text for Prometheus. */
function metricsIn(text, { withValues }) {
  const ours = text.split('# HELP ').filter((part) => /^rollcall_(?!process_|nodejs_)/.test(part))
  const rows = ours.map((part) => {
    const [, name, help] = /^(\S+) (.*)$/m.exec(part)
    const [, type] = /^# TYPE \S+ (\S+)$/m.exec(part)
    const values = new Map()
    for (const [, label, value] of part.matchAll(/[{,](\w+)="([^"]*)"/g))
      if (label !== 'le') values.set(label, (values.get(label) ?? new Set()).add(value))
    const labels = [...values].map(([label, of]) => (withValues ? `${label} (${[...of].join(', ')})` : label))
    return [`\`${name}\``, type, labels.join('; '), help]
  })
  return table(['metric', 'type', 'labels', 'what it shows'], rows)
}

const NOTHING = { inserted: 0, changed: 0, deleted: 0 }
const OWED = { deletion: 0, change: 0, repair: 0, backfill: 0, due: 0, queued: 0, active: 0, waiting: 0 }
const TABLES = {
  overview: { owed: OWED, outbox: { rows: 0, bytes: 0 }, states: {}, customers: 0, unknown: 0 },
  sweeps: { unfinished: [], check: { missed: NOTHING, silentMs: 0 }, missedSince: NOTHING },
  brake: [],
  pace: { ceiling: 1, rate: 1, heldForMs: 0, breaker: 'closed', cause: null },
  drift: {
    coverage: { customers: 0, within: 0, overdue: 0, oldestAgeMs: null, proof: null },
    open: { missing: 0, differs: 0, 'unexpected-access': 0, unreadable: 0, 'trial-ended': 0 },
    access: { lost: 0, undue: 0 },
    notCredible: null,
  },
}

/** The metrics of a worker that has done each thing once, and of empty tables. */
async function metrics() {
  const log = { debug() {}, info() {}, warn() {} }
  const address = { host: '127.0.0.1', port: 0, byDefault: false }
  const databaseUrl = 'postgres://127.0.0.1:1/none'
  const ops = await openOps({ address, databaseUrl, periodMs: null, log, now: () => performance.now() })
  try {
    const { onCheck, onCaptured, onStep, watchLoop } = ops.observers
    onCheck({ method: 'GET', meaning: 'present', status: 200, ms: 1 })
    onCaptured(1)
    onStep('', { step: 'ended', end: { kind: 'settle', state: 'idle' } })
    await watchLoop('dispatch', async () => 0)(new AbortController().signal)
    const own = await (await fetch(`${ops.url}/metrics`)).text()
    return [
      '## Metrics of each worker',
      'Each worker reports its own values. Sum the counters and the histogram over all workers. Take the `max` of the gauges.',
      metricsIn(own, { withValues: false }),
      '`rollcall_process_…` and `rollcall_nodejs_…` are the default metrics of the library prom-client.',
      '## Metrics read from the tables',
      'Every worker reads these from the same tables and reports the same values. Aggregate them with `max`, never with `sum`.',
      metricsIn(await showTables(TABLES), { withValues: true }),
    ].join('\n\n')
  } finally {
    await ops.close()
  }
}

const BEGIN = '<!-- Written by `node scripts/references.mjs`. -->'
const END = '<!-- End of what is written. -->'

let old = false
for (const [name, write] of Object.entries({
  'command-reference': commands,
  configuration: options,
  metrics,
})) {
  const page = new URL(`../docs/${name}.md`, import.meta.url)
  const text = readFileSync(page, 'utf8')
  const [before, after] = [text.split(BEGIN)[0], text.split(END)[1]]
  const now = `${before}${BEGIN}\n\n${await write()}\n\n${END}${after}`
  if (now === text) continue
  if (!process.argv.includes('--check')) writeFileSync(page, now)
  else {
    process.stderr.write(`docs/${name}.md is old: node scripts/references.mjs\n`)
    old = true
  }
}
process.exit(old ? 1 : 0)
