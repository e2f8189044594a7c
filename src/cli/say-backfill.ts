import type { Announced } from '../brake/announce.ts'
import type { MappingStatus } from '../ledger/generation.ts'
import { type NamedService, sayService } from '../model/service.ts'
import { figure } from '../report/figures.ts'
import type { SweepEnd } from '../sweep/run.ts'
import type { SweepTally } from '../sweep/tally.ts'
import type { Plan } from '../sync/plan.ts'
import type { Waited } from './backfill-wait.ts'
import type { ExitCode } from './io.ts'
import { lines } from './say-status.ts'
import { allMissed, sayExamples, sayMissed } from './say-sweeps.ts'

/** `standing` as it was at the end; null on a ledger that no worker has met yet. */
export type Backfilled = SweepEnd & {
  readonly target: NamedService
  readonly standing: MappingStatus | null
  /** The mapping became the present one by this. */
  readonly applied: boolean
  /** It was about the mapping. */
  readonly mapping: boolean
  /** It went on where an earlier command had stopped. */
  readonly resumed: boolean
  readonly announced: Announced | null
  /** It was for those alone of whom a condition holds. */
  readonly conditioned: boolean
  /** Null: it did not wait. */
  readonly waited: Waited | null
}

/**
 * Whether a condition held of nobody at all: far likelier a typing error than an answer, and nothing that a script should
 * take for done.
 */
export function fitsNobody({ conditioned, ended, tally }: Fitting): boolean {
  return conditioned && ended && tally.customers === 0
}

type Fitting = Pick<Backfilled, 'conditioned' | 'ended'> & { readonly tally: Pick<SweepTally, 'customers'> }

export const NOBODY_FITS = 'there is no customer for whom --where holds: is it a typing error?'

/** Somebody who is rejected or held is settled by no waiting. */
export function exitOf(done: Backfilled): ExitCode {
  const { ended, waited, tally } = done
  if (!ended || waited?.ended === false || fitsNobody(done)) return 1
  if (!waited) return 0
  return waited.open + unsettled(waited) + tally.verdicts.unreadable > 0 ? 3 : 0
}

function unsettled({ states: { rejected, failing, held } }: Waited): number {
  return rejected + failing + held
}

/** What a backfill has found and done, as lines for a person. */
export function sayBackfill(done: Backfilled): string[] {
  const { tally, ended, announced, waited } = done
  const about = [...lines('service', sayService(done.target)), ...lines('mapping', sayWhich(done))]
  if (fitsNobody(done)) return [...about, ...lines('nobody', NOBODY_FITS)]
  return [
    ...about,
    ...sayTally(tally, done.mapping),
    ...sayWhomCaptureMissed(done),
    ...(announced ? lines('announced', sayAnnounced(announced)) : []),
    ...(ended ? [] : lines('stopped', sayStopped(done))),
    ...(ended && !waited ? lines('done', sayNoted(tally)) : []),
    ...(waited ? sayWaited(waited, tally) : []),
  ]
}

function sayWhich({ standing, applied, mapping }: Backfilled): string {
  if (!standing) return 'none was ever gone by: the first worker takes up its own'
  const { generation, appliedAt } = standing
  if (applied && standing.current) return `applied: syncs go by it from now on (generation ${generation})`
  if (standing.current) {
    const again = mapping ? '; everybody was looked at again' : ''
    return `syncs go by it already (generation ${generation}, since ${appliedAt})${again}`
  }
  const before = standing.earlier ? ', which replaced it' : ''
  return `not applied: syncs go by generation ${generation}${before}, since ${appliedAt}`
}

/** Whom a sweep has looked at, and what it has found. */
export function sayTally(tally: SweepTally, mapping: boolean): string[] {
  const { customers, verdicts, unsure, plans, fields, loseAccess, otherUsers, neverInScope } = tally
  const some = (label: string, count: number, text: string) => (count > 0 ? lines(label, text) : [])
  const n = (verdict: keyof SweepTally['verdicts']) => figure(verdicts[verdict])
  const bring = mapping ? '`rollcall backfill` brings them in' : ''
  return [
    ...lines('customers', `${figure(customers)} looked at`),
    ...lines('differ', `${n('differs')}${listed(': ', inWords(plans))}`),
    ...some('fields', Object.keys(fields).length, `of those who are registered: ${listed('', fields)}`),
    ...some('lose access', loseAccess, sayLosses(loseAccess)),
    ...some(
      'user_id',
      otherUsers,
      `${figure(otherUsers)} become other users; the users that they were keep their access`,
    ),
    ...some(
      'owed',
      verdicts.owed,
      `${n('owed')} are owed a sync already${unsure > 0 ? `, ${figure(unsure)} of them differ by row or mapping` : ''}`,
    ),
    ...some(
      'later',
      verdicts['another-time'],
      `${n('another-time')} change by themselves at another time than before`,
    ),
    ...some(
      'never asked',
      verdicts['never-asked'],
      `${n('never-asked')} were never synced, and are not by this: ${bring}`,
    ),
    ...some(
      'left alone',
      verdicts['not-selected'],
      `${n('not-selected')} differ in another way than --only names`,
    ),
    ...sayWaiting(tally),
    ...some(
      'out of scope',
      neverInScope,
      `${figure(neverInScope)} were never in scope: left alone, whatever access they have at the service`,
    ),
    ...some(
      'unreadable',
      verdicts.unreadable,
      `${n('unreadable')} rows cannot be read: see \`rollcall failures\``,
    ),
  ]
}

/** Nothing differs for them since a person, or the service, has said no; nobody should take them for settled. */
function sayWaiting({ waiting: { held, discarded, rejected } }: SweepTally): string[] {
  return [
    ...(held > 0 ? lines('held', `${figure(held)} wait for a person, as before: see \`rollcall held\``) : []),
    ...(rejected > 0
      ? lines('rejected', `${figure(rejected)} were rejected, and stay so: see \`rollcall failures\``)
      : []),
    ...(discarded > 0
      ? lines('discarded', `${figure(discarded)} stay as a person has left them: see \`rollcall held log\``)
      : []),
  ]
}

function sayLosses(count: number): string {
  return `at most ${figure(count)} of those who differ; the brake holds a mass of them`
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

function inWords(plans: SweepTally['plans']): Readonly<Record<string, number>> {
  const kinds = Object.keys(PLANS) as Plan['kind'][]
  return Object.fromEntries(kinds.flatMap((kind) => (plans[kind] ? [[PLANS[kind], plans[kind]]] : [])))
}

/** `12 status, 3 email`, the most frequent first. */
function listed(before: string, counts: Readonly<Record<string, number>>): string {
  const entries = Object.entries(counts).toSorted(([, a], [, b]) => b - a)
  return entries.length === 0
    ? ''
    : `${before}${entries.map(([name, n]) => `${figure(n)} ${name}`).join(', ')}`
}

/** Nobody should have to wonder whether capture misses anything. */
function sayWhomCaptureMissed({ tally: { missed }, examples }: Backfilled): string[] {
  if (allMissed(missed) === 0) return []
  return lines(
    'missed',
    `capture has missed ${sayMissed(missed)}${sayExamples(examples)}; they are owed a sync now. Find out what writes without triggers: disabled triggers, session_replication_role, logical replication`,
  )
}

export function sayAnnounced({ set, left, until, trippedAt }: Announced): string {
  if (trippedAt !== null)
    return `registrations wait for a person since ${trippedAt}, those who are announced too: see \`rollcall held\``
  if (left === 0) return 'nobody is to be registered any more, and no registration passes the brake uncounted'
  return set
    ? `${figure(left)} registrations pass the brake until ${until}`
    : `they were announced when this backfill began, and are not announced twice: ${figure(left)} of them may still come; \`--restart\` announces anew`
}

function sayNoted({ verdicts }: SweepTally): string {
  return verdicts.differs === 0
    ? 'nobody differs'
    : `${figure(verdicts.differs)} are owed a sync: \`rollcall status\` shows how it goes, and --wait waits for it`
}

function sayStopped({ standing, superseded, mapping }: Backfilled): string {
  if (standing && !standing.current)
    return 'not everybody was looked at: another mapping was applied meanwhile'
  if (superseded) return 'not everybody was looked at: another backfill was begun in its place'
  return mapping
    ? 'not everybody was looked at: a worker with this configuration goes on with it, and so does this command'
    : 'not everybody was looked at: run the same command again to go on; --restart starts over'
}

function sayWaited(waited: Waited, { verdicts }: SweepTally): string[] {
  const { states, reasons, open, ended } = waited
  const failing = unsettled(waited)
  const why = reasons
    .filter(({ state }) => state !== 'discarded')
    .flatMap(({ state, code, status, customers }) =>
      lines(
        state,
        `${figure(customers)} × ${code}${status === null ? '' : ` (${status})`}; see ${WHERE_SEEN(state)}`,
      ),
    )
  if (!ended)
    return [
      ...why,
      ...lines('stopped', `${figure(open)} are owed a sync still; \`rollcall status\` shows how it goes`),
    ]
  const unread = verdicts.unreadable
  return [
    ...lines('settled', `${figure(states.idle)} customers`),
    ...why,
    ...(states.discarded > 0
      ? lines('discarded', `${figure(states.discarded)} were left as they are by a person`)
      : []),
    ...lines('done', failing + open + unread > 0 ? sayNotAll(failing + unread) : 'everybody is settled'),
  ]
}

const WHERE_SEEN = (state: string) => (state === 'held' ? '`rollcall held`' : '`rollcall failures`')

function sayNotAll(customers: number): string {
  return `nothing is waited for any more, and ${figure(customers)} are not settled`
}

export function backfillJson(done: Backfilled): object {
  const { target, standing, applied, tally, ended, resumed, announced, waited, examples } = done
  const { generation = null, appliedAt = null, current = false } = standing ?? {}
  const about = { target, generation, appliedAt, current, applied, dryRun: false, ended, resumed }
  return { ...about, announced, waited, examples, ...tally }
}
