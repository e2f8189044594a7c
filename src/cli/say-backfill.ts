import type { Standing } from '../ledger/generation.ts'
import type { Swept } from '../sweep/sweep.ts'
import type { Tally } from '../sweep/tally.ts'
import type { Plan } from '../sync/plan.ts'
import { lines } from './say-status.ts'

/** `standing` as it was at the end; null on a ledger that no worker has met yet. */
export type Backfilled = Swept & {
  readonly standing: Standing | null
  /** The mapping became the present one by this. */
  readonly applied: boolean
  readonly dryRun: boolean
}

/** What a backfill has found and done, as lines for a person. */
export function sayBackfill(done: Backfilled): string[] {
  const { tally, dryRun, ended } = done
  return [
    ...lines('mapping', sayWhich(done)),
    ...sayTally(tally),
    ...(ended ? [] : lines('stopped', sayStopped(done))),
    ...(ended && !dryRun ? lines('done', sayNoted(tally)) : []),
    ...(ended && dryRun ? lines('dry run', 'no call was made and nothing was written') : []),
  ]
}

function sayWhich({ standing, applied, dryRun }: Backfilled): string {
  if (!standing) return 'none was ever gone by: the first worker takes up its own'
  const { generation, appliedAt } = standing
  if (applied && standing.current) return `applied: syncs go by it from now on (generation ${generation})`
  if (standing.current) {
    const again = dryRun ? '' : '; everybody was looked at again'
    return `syncs go by it already (generation ${generation}, since ${appliedAt})${again}`
  }
  const before = standing.earlier ? ', which replaced it' : ''
  return `not applied: syncs go by generation ${generation}${before}, since ${appliedAt}`
}

/** Whom a sweep has looked at, and what it has found; also for `rollcall status`. */
export function sayTally({
  customers,
  verdicts,
  unsure,
  plans,
  fields,
  loseAccess,
  otherUsers,
}: Tally): string[] {
  const some = (label: string, count: number, text: string) => (count > 0 ? lines(label, text) : [])
  return [
    ...lines('customers', `${customers} looked at`),
    ...lines('differ', `${verdicts.differs}${listed(': ', inWords(plans))}`),
    ...some('fields', Object.keys(fields).length, `of those who are registered: ${listed('', fields)}`),
    ...some('lose access', loseAccess, sayLosses(loseAccess)),
    ...some(
      'user_id',
      otherUsers,
      `${otherUsers} become other users; the users that they were keep their access`,
    ),
    ...some(
      'owed',
      verdicts.owed,
      `${verdicts.owed} are owed a sync already${unsure > 0 ? `, ${unsure} of them differ by row or mapping` : ''}`,
    ),
    ...some(
      'later',
      verdicts['another-time'],
      `${verdicts['another-time']} change by themselves at another time than before`,
    ),
    ...some(
      'never asked',
      verdicts['never-asked'],
      `${verdicts['never-asked']} were never synced, and are not by this: see \`rollcall capture resync\``,
    ),
    ...some('unreadable', verdicts.unreadable, `${verdicts.unreadable} rows cannot be read`),
  ]
}

function sayLosses(count: number): string {
  return `at most ${count} of those who differ; the brake holds a mass of them`
}

const PLANS: Readonly<Record<Plan['kind'], string>> = {
  create: 'to create',
  lookup: 'to look up',
  patch: 'to update (PATCH)',
  replace: 'to replace (PUT)',
  revoke: 'to revoke',
  erase: 'to erase',
  reject: 'rejected',
  none: 'without a call',
}

function inWords(plans: Tally['plans']): Readonly<Record<string, number>> {
  const kinds = Object.keys(PLANS) as Plan['kind'][]
  return Object.fromEntries(kinds.flatMap((kind) => (plans[kind] ? [[PLANS[kind], plans[kind]]] : [])))
}

/** `12 status, 3 email`, the most frequent first. */
function listed(before: string, counts: Readonly<Record<string, number>>): string {
  const entries = Object.entries(counts).toSorted(([, a], [, b]) => b - a)
  return entries.length === 0 ? '' : `${before}${entries.map(([name, n]) => `${n} ${name}`).join(', ')}`
}

function sayNoted({ verdicts }: Tally): string {
  return verdicts.differs === 0
    ? 'nobody differs'
    : `${verdicts.differs} are owed a sync: \`rollcall status\` shows how it goes`
}

function sayStopped({ dryRun, standing }: Backfilled): string {
  if (!dryRun && standing && !standing.current)
    return 'not everybody was looked at: another mapping was applied meanwhile'
  return dryRun
    ? 'not everybody was looked at'
    : 'not everybody was looked at: a worker with this configuration goes on with it, and so does this command'
}

export function backfillJson({ standing, applied, dryRun, tally, ended }: Backfilled): object {
  const { generation = null, appliedAt = null, current = false } = standing ?? {}
  return { generation, appliedAt, current, applied, dryRun, ended, ...tally }
}
