// The demo's result, as JSON and in words; pure. It compares every customer with the service: the mapping and the normal
// form are the product's own.
import type { Config, Row } from '../config/config.ts'
import type { CustomerKey } from '../model/customer.ts'
import { normalForm } from '../model/normal.ts'
import { entitled, OPTIONAL_FIELDS, type Status } from '../model/user.ts'
import type { StoredUser } from '../sandbox/users/users.ts'
import { mapCustomer } from '../sync/map.ts'
import { METERED_KINDS, type Meter, measure } from './meter.ts'
import { duration, type Paint } from './view.ts'

/** `rollcall demo --json`. Latencies are from the change to the call that was acknowledged, in milliseconds. */
type Summary = ReturnType<typeof summarize>

export function summarize(meter: Meter, comparison: ReturnType<typeof compareDemo>, now: number) {
  return {
    agree: comparison.differences.length === 0,
    target: meter.target,
    seconds: Math.round((now - meter.startedAt) / 100) / 10,
    ...comparison,
    ...measure(meter.phases),
    phases: meter.phases.map((phase) => ({ name: phase.name, ...measure([phase]) })),
  }
}

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
    paint('dim', ' changes: captured rows; a new customer counts as two changes (in two tables)'),
    paint('dim', ' median, p95: from a change to its call; a bulk waits for the rate limit'),
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
      ` ${former} former customers have no access there. The demo made ${made} calls.`,
    ]
  }
  return [
    paint('bad', ` ${differences.length} of ${customers + former} customers do not agree with the service:`),
    ...differences.slice(0, 10).map(({ key, differs }) => `   ${key}: ${differs.join(', ')}`),
  ]
}

export const NEXT_STEPS = [
  ' To keep the demo running: npx rollcall demo --keep',
  ' Next, with your own database and a rollcall.config.ts (see examples/):',
  '   npx rollcall sync <key> --dry-run                     sends nothing',
  '   npx rollcall migrate && npx rollcall capture install  tables and triggers',
  '   npx rollcall worker                                   syncs each change',
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

/**
 * `former`: users whose customer was deleted. `differs`: names of fields, or one sentence.
 *
 * @param rows in this mapping the `user_id` is the customer key
 */
export function compareDemo(
  config: Config,
  rows: ReadonlyMap<CustomerKey, Row>,
  users: readonly StoredUser[],
) {
  const held = new Map(users.map((user) => [user.user_id, user]))
  const keys = [...new Set([...rows.keys(), ...held.keys()])]
  const compared = keys.map((key) => ({
    key,
    differs: compareOne(config, key, rows.get(key), held.get(key)),
  }))
  const differences = compared.filter(({ differs }) => differs.length > 0)
  return { customers: rows.size, former: keys.length - rows.size, differences }
}

/**
 * Compares the values in the sandbox, since a GET does not return all of them. A field that was left out because its
 * value is invalid is not compared.
 */
function compareOne(config: Config, key: CustomerKey, row: Row | undefined, user: StoredUser | undefined) {
  const mapped = row && mapCustomer(config, { key, row, now: new Date() })
  if (mapped?.kind !== 'user') return user && entitled(user.status as Status) ? ['still has access'] : []
  if (!user) return ['there is no such user']
  const { status, fields } = mapped.user
  const differing = OPTIONAL_FIELDS.filter(
    (field) =>
      fields[field] !== undefined && normalForm(field, fields[field]) !== normalForm(field, user[field]),
  )
  return [...(user.status === status ? [] : ['status']), ...differing]
}
