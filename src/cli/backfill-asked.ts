import type { Pool } from 'pg'
import type { Config } from '../config/config.ts'
import { digestOf, readConditions } from '../customers/conditions.ts'
import { RollcallError } from '../model/errors.ts'
import type { Only } from '../sweep/differs.ts'
import type { Restriction } from '../sweep/restriction.ts'
import { MOST_WHOLE, type NumberRule, numberOf, wholeNumber, within } from './option-values.ts'

/** As commander gives them. */
export type BackfillFlags = {
  readonly config?: string
  readonly dryRun?: true
  readonly where?: readonly string[]
  readonly only?: Only
  readonly lookup?: true
  readonly sample?: string
  readonly rate?: string
  readonly expectCreates?: string
  readonly restart?: true
  readonly wait?: true
  readonly mapping?: true
  readonly json?: true
}

export type BackfillAsked = Pick<BackfillFlags, 'only'> & {
  readonly [K in 'dryRun' | 'lookup' | 'restart' | 'wait' | 'mapping' | 'json']: boolean
} & {
  readonly where: readonly string[]
  readonly sample: number
  /** Calls per second. */
  readonly rate: number | null
  readonly expectCreates: number | null
}

/** @throws RollcallError USAGE with everything that is wrong with the options at once */
export function readBackfillAsked(options: BackfillFlags): BackfillAsked {
  const problems: string[] = []
  const sample = numberOf(options.sample, wholeNumber('--sample'), problems)
  const rate = numberOf(options.rate, RATE, problems)
  const expectCreates = numberOf(options.expectCreates, wholeNumber('--expect-creates'), problems)
  if (options.sample !== undefined && !options.dryRun) problems.push('--sample: only with --dry-run')
  if (problems.length > 0) throw new RollcallError('USAGE', problems)
  const { only, where = [], dryRun, lookup, restart, wait, mapping, json } = options
  return {
    ...(only === undefined ? {} : { only }),
    ...{ where, rate, expectCreates, sample: sample ?? 0 },
    ...{ dryRun: dryRun === true, lookup: lookup === true, restart: restart === true },
    ...{ wait: wait === true, mapping: mapping === true, json: json === true },
  }
}

const RATE: NumberRule = {
  name: '--rate',
  expected: 'a number of calls per second above 0',
  form: /^\d{1,10}(\.\d{1,6})?$/,
  read: (text) => within(Number(text), 0.000_001, MOST_WHOLE),
}

type Reading = { readonly pool: Pool; readonly config: Config; readonly digestKey: string }

/** What is recorded of it tells one backfill from another. */
export async function readRestriction(
  { pool, config, digestKey }: Reading,
  asked: BackfillAsked,
): Promise<Restriction> {
  const { where, only, lookup } = asked
  const conditions = await readConditions(pool, config, where)
  const digest = digestOf(conditions, digestKey)
  return {
    options: {
      ...(digest === null ? {} : { where: digest }),
      ...(only === undefined ? {} : { only }),
      ...(lookup ? { lookup } : {}),
    },
    select: { ...(only === undefined ? {} : { only }), lookup },
    conditions,
  }
}
