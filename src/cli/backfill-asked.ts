import type { Command } from '@commander-js/extra-typings'
import type { Pool } from 'pg'
import type { Config } from '../config/config.ts'
import { digestOf, readConditions } from '../customers/conditions.ts'
import type { MappingStatus } from '../ledger/generation.ts'
import { minute } from '../report/figures.ts'
import type { Restriction } from '../sweep/run.ts'
import type { Only } from '../sweep/verdict.ts'
import {
  CONFIG_OPTION,
  gathered,
  JSON_OPTION,
  rateIn,
  usage,
  WHERE_OPTION,
  wholeNumber,
} from './option-values.ts'
import type { Progress } from './progress.ts'

/** A mapping is for all customers, and a worker goes on with it. */
const NOT_WITH_MAPPING = ['where', 'only', 'lookup', 'restart', 'rate', 'expectCreates']

export function addBackfillOptions(command: Command) {
  const option = <Flags extends string>(flags: Flags, description: string) =>
    command.createOption(flags, description)
  return command
    .option(...CONFIG_OPTION)
    .option('--dry-run', 'make no call and write nothing; print the calls that would follow')
    .option(...WHERE_OPTION, gathered)
    .addOption(
      option(
        '--only <what>',
        'only customers that need this kind of call (revoke: row deleted or out of scope)',
      ).choices(['create', 'update', 'revoke']),
    )
    .option('--lookup', 'make a lookup (GET) before each registration')
    .option(
      '--sample <n>',
      'with --dry-run: print the planned calls of this many random customers',
      wholeNumber('--sample'),
    )
    .option('--rate <n>', 'limit the backfill to this many calls per second', rateIn('--rate'))
    .option(
      '--expect-creates <n>',
      'pre-approve this many registrations: the brake lets them pass',
      wholeNumber('--expect-creates'),
    )
    .addOption(
      option('--restart', 'start with the first customer, not where the last run stopped').conflicts(
        'dryRun',
      ),
    )
    .addOption(
      option(
        '--wait',
        'wait until workers have handled the marked customers, then print how many are not settled, and why',
      ).conflicts('dryRun'),
    )
    .addOption(
      option('--mapping', 'activate the mapping of this configuration for all customers').conflicts(
        NOT_WITH_MAPPING,
      ),
    )
    .option(...JSON_OPTION)
}

type BackfillFlags = ReturnType<ReturnType<typeof addBackfillOptions>['opts']>

const NOT_ASKED = {
  ...{ where: [] as readonly string[], only: null as Only | null },
  ...{ sample: 0, rate: null as number | null, expectCreates: null as number | null },
  ...{ dryRun: false, lookup: false, restart: false, wait: false, mapping: false, json: false },
}

export function readBackfillAsked(flags: BackfillFlags) {
  if (flags.sample !== undefined && !flags.dryRun) throw usage('--sample: only with --dry-run')
  return { ...NOT_ASKED, ...flags }
}

export type BackfillAsked = ReturnType<typeof readBackfillAsked>

export type Asking = { readonly config: Config; readonly asked: BackfillAsked; readonly progress: Progress }

/** `options` is recorded: it tells one backfill from another, and holds no value of a condition. */
export async function readRestriction(
  { pool, config, digestKey }: { readonly pool: Pool; readonly config: Config; readonly digestKey: string },
  { where, only, lookup }: BackfillAsked,
): Promise<Restriction> {
  const conditions = await readConditions(pool, config, where)
  const digest = digestOf(conditions, digestKey)
  return {
    options: {
      ...(digest === null ? {} : { where: digest }),
      ...(only === null ? {} : { only }),
      ...(lookup ? { lookup } : {}),
    },
    select: { only, lookup },
    conditions,
  }
}

/** A condition that held for no customer is likelier a typing error than an answer: no script should take it for done. */
export function fitsNone(
  { ended, customers }: { readonly ended: boolean; readonly customers: number },
  { where }: BackfillAsked,
): boolean {
  return where.length > 0 && ended && customers === 0
}

/** As reports have it; null on a ledger that no worker has met yet. */
export function activeMapping(mapping: MappingStatus | null) {
  const { generation = null, appliedAt = null, current = false, earlier = false } = mapping ?? {}
  return { generation, appliedAt, current, earlier }
}

type ActiveMapping = ReturnType<typeof activeMapping>

export function renderMapping({ generation, appliedAt, current, earlier }: ActiveMapping): string {
  if (generation === null)
    return 'no mapping is active yet; the first worker, backfill or sync activates the mapping of its configuration'
  const other = earlier
    ? '; the mapping of this command was active before'
    : ', from another configuration than the one of this command'
  return `generation ${generation}, active since ${minute(appliedAt ?? '')}${current ? '' : other}`
}
