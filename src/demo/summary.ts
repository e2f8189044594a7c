// The demo's result, as JSON and in words. Pure.
import type { compareDemo } from './compare.ts'
import { latencyOf, METERED_KINDS, type Meter, totals } from './meter.ts'
import { duration, type Paint } from './view.ts'

/** `rollcall demo --json`. Latencies are from the change to the call that was acknowledged, in milliseconds. */
export type Summary = ReturnType<typeof summarize>

export function summarize(meter: Meter, comparison: ReturnType<typeof compareDemo>, now: number) {
  const { latencies, ...total } = totals(meter)
  return {
    agree: comparison.differences.length === 0,
    target: meter.target,
    seconds: Math.round((now - meter.startedAt) / 100) / 10,
    ...comparison,
    ...total,
    arrival: latencyOf(latencies),
    phases: meter.phases.map(({ latencies, ...phase }) => ({ ...phase, arrival: latencyOf(latencies) })),
  }
}

/** More customers than this are only counted. */
const MAX_NAMED = 10

/** One row for each phase, and whether all customers agree. At most 78 characters wide. */
export function renderSummary(summary: Summary, paint: Paint): readonly string[] {
  const titles = ['changes', ...METERED_KINDS, ' median', '    p95'].map((title) => ` ${title}`)
  const rows = [...summary.phases, { ...summary, name: 'altogether' }].map((row) => {
    const calls = METERED_KINDS.map((kind) =>
      paint(row.calls[kind] > 0 ? kind : 'dim', String(row.calls[kind] || '·').padStart(kind.length + 1)),
    )
    const times = [row.arrival.medianMs, row.arrival.p95Ms].map((ms) => duration(ms).padStart(8)).join('')
    return ` ${row.name.padEnd(18)}${String(row.captured || '·').padStart(7)}${calls.join('')}${paint('dim', times)}`
  })
  return [
    paint('dim', `${' '.repeat(18)}${titles.join('')}`),
    ...rows,
    paint('dim', ' median, p95: from a change to its call; a bulk waits for the pace'),
    '',
    ...renderVerdict(summary, paint),
  ]
}

function renderVerdict(summary: Summary, paint: Paint): readonly string[] {
  const { agree, customers, former, differences, calls } = summary
  if (agree) {
    const made = METERED_KINDS.reduce((sum, kind) => sum + calls[kind], 0)
    return [
      paint('good', ` All ${customers} customers agree with the service.`),
      ` ${former} former customers have no access there. It took ${made} calls.`,
    ]
  }
  const more = differences.length - MAX_NAMED
  return [
    paint('bad', ` ${differences.length} of ${customers + former} customers do not agree with the service:`),
    ...differences.slice(0, MAX_NAMED).map(({ key, differs }) => `   ${key}: ${differs.join(', ')}`),
    ...(more > 0 ? [`   and ${more} more`] : []),
  ]
}

/** What to do next with the viewer's own database. */
export const NEXT_STEPS = [
  ' Next, with your own database and a rollcall.config.ts (see examples/):',
  '   npx rollcall sync <key> --dry-run                     sends nothing',
  '   npx rollcall migrate && npx rollcall capture install  tables and triggers',
  '   npx rollcall worker                                   and it runs',
  '   npm run demo -- --keep                                play with it',
]

/** The settings of the running demo. The keys are made for this run and worthless after it. */
export function renderKept(env: Readonly<Record<string, string>>, configFile: string): readonly string[] {
  return [
    ' Everything keeps running. In another terminal:',
    ...Object.entries(env).map(([name, value]) => `   export ${name}='${value}'`),
    '',
    `   psql "$DATABASE_URL" -c "UPDATE clientes SET idioma = 'en'"`,
    `   npx rollcall sync C-0001 --config '${configFile}'`,
    '   curl -s "$SERVICE_URL/_sandbox/users"',
    '',
  ]
}
