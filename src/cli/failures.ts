import type { Pool } from 'pg'
import { loadConfig } from '../config/load.ts'
import { listFailing, readFailures, type Selector } from '../ledger/failures.ts'
import { readHistory } from '../ledger/history.ts'
import { REASON_CODES } from '../ledger/reason.ts'
import { retryAll, retryKeys } from '../ledger/retry.ts'
import type { CustomerKey } from '../model/customer.ts'
import type { RollcallError } from '../model/errors.ts'
import type { NamedService } from '../model/service.ts'
import { USER_FIELDS } from '../model/user.ts'
import { namedService } from '../service/address.ts'
import { withDatabase } from './connect.ts'
import type { AddCommand, Io } from './io.ts'
import { knownSpelling } from './named.ts'
import { didYouMean, FAILED, JSON_OPTION, usage, wholeNumber } from './option-values.ts'
import { tell } from './render.ts'
import {
  type Advised,
  adviseGroups,
  adviseOn,
  renderFailing,
  renderGroups,
  renderHistories,
  renderRetried,
} from './render-failures.ts'
import { CALLS } from './render-history.ts'
import { ISSUE_CODES, isReasonCode } from './render-reason.ts'

const EXAMPLES = `
REASON is a name that \`rollcall failures\` lists. Its last part can be left out:
  refused:422, unknown:timeout  a reason with the HTTP status or the error
  refused                       this reason with any status or error
  issue:email:invalid           an issue of a field
  issue:email                   any issue of this field

--retry requests a sync now. It also forgets which values the service has
refused, so that they are sent again. If an earlier call may still arrive at the
service, the retry waits until that call can no longer arrive. If you have
corrected a row, you need no --retry.

The command needs DATABASE_URL only.

Exit codes:
  0  no customer is rejected, failing or has a field left out; or the retry is
     requested
  3  there are such customers, or a named customer is held, discarded or not
     known
${FAILED}

Examples:
  rollcall failures                          every reason, with what to do
  rollcall failures --reason refused:422     the customers with this reason
  rollcall failures --retry 4711 4712        retry these customers now
  rollcall failures --retry --reason denied  after you corrected the Api-Key
  rollcall failures --retry --all`

export const failuresCommand: AddCommand = (program, io, exit) => {
  program
    .command('failures')
    .argument('[key...]', 'customer keys')
    .option('--reason <reason>', 'only customers with this reason, like refused:422 or issue:email:invalid')
    .option(
      '--limit <number>',
      'with --reason: list at most this many (default: 100)',
      wholeNumber('--limit'),
    )
    .option('--retry', 'retry now: the named customers, those of --reason, or --all')
    .option('--all', 'with --retry: all customers')
    .option(...JSON_OPTION)
    .addHelpText('after', EXAMPLES)
    .action(async (keys, options) => {
      const asked = readFailuresAsked(keys, options)
      const view = await withDatabase(io, {}, (pool) => answer(io, pool, asked))
      tell(io, options.json, view.value, view.lines)
      exit(view.code)
    })
}

type FailuresFlags = { readonly reason?: string; readonly limit?: number } & {
  readonly [option in 'retry' | 'all']?: boolean
}

type FailuresAsked = ReturnType<typeof readFailuresAsked>

/** The named customers, or those of the selector; without either all groups are shown. @throws RollcallError USAGE */
export function readFailuresAsked(
  keys: readonly CustomerKey[],
  { reason, limit, retry = false, all = false }: FailuresFlags,
) {
  const chosen = [keys.length > 0, reason !== undefined, all].filter(Boolean).length
  if (chosen > 1) throw usage('customer keys, --reason and --all exclude each other')
  if (all && !retry)
    throw usage('--all needs --retry: without --retry, the command shows all failures anyway')
  if (retry && chosen === 0) throw usage('--retry needs customer keys, --reason or --all')
  if (limit !== undefined && (reason === undefined || retry))
    throw usage('--limit needs --reason, and excludes --retry')
  const allCustomers: Selector | null = all ? { kind: 'all' } : null
  return {
    retry,
    keys,
    selector: reason === undefined ? allCustomers : readSelector(reason),
    limit: limit ?? 100,
  }
}

const ISSUE_FIELDS = [...USER_FIELDS, 'scope'] as const

/** A code is checked later: the tables may hold one that this version does not know. */
function readSelector(reason: string): Selector {
  const [head = '', ...rest] = reason.split(':')
  const tail = rest.join(':')
  if (head === 'issue') return readIssue(rest)
  if (head === '' || (rest.length > 0 && tail === '')) throw noSuchReason()
  return { kind: 'reason', code: head, detail: rest.length > 0 ? tail : null }
}

function readIssue([field = '', code]: readonly string[]): Selector {
  if (!ISSUE_FIELDS.some((known) => known === field)) throw noSuchReason(didYouMean(field, ISSUE_FIELDS))
  if (code !== undefined && !ISSUE_CODES.includes(code)) throw noSuchReason(didYouMean(code, ISSUE_CODES))
  return { kind: 'issue', field, code: code ?? null }
}

async function answer(io: Io, pool: Pool, { retry, keys, selector, limit }: FailuresAsked) {
  if (retry) {
    const retried = selector
      ? await retryAll(pool, selector)
      : await retryKeys(pool, await knownSpelling(pool, keys))
    if (selector && retried.customers === 0) checkCode(selector)
    return viewOf(retried, () => renderRetried(retried), retried.unheardOf.length === 0)
  }
  if (selector) {
    const found = await listFailing(pool, selector, limit)
    if (found.total === 0) checkCode(selector)
    return viewOf(found, () => renderFailing(found, selector), found.total === 0)
  }
  if (keys.length > 0) {
    const found: Advised[] = []
    for (const key of new Set(await knownSpelling(pool, keys))) {
      const history = await readHistory(pool, key, CALLS)
      found.push({ key, history, advice: adviseOn(history) })
    }
    const fine = found.every(({ history, advice }) => history !== null && advice.length === 0)
    return viewOf(found, () => renderHistories(found), fine)
  }
  const found = await readFailures(pool)
  const groups = adviseGroups(found, await nameIfConfigured(found.origin, io.cwd))
  return viewOf(groups, () => renderGroups(groups), groups.reasons.length + groups.issues.length === 0)
}

function viewOf(value: unknown, lines: () => readonly string[], fine: boolean) {
  return { value, lines, code: fine ? (0 as const) : (3 as const) }
}

/** Nothing else here needs the configuration: one that is missing or broken is no reason to fail. */
async function nameIfConfigured(origin: string | null, cwd: string): Promise<NamedService | null> {
  if (origin === null) return null
  const config = await loadConfig(undefined, cwd).catch(() => null)
  return config && namedService(origin, config)
}

/** A mistyped reason must not pass for one that no customer has. */
function checkCode(selector: Selector): void {
  if (selector.kind !== 'reason' || isReasonCode(selector.code)) return
  throw noSuchReason(didYouMean(selector.code, REASON_CODES))
}

function noSuchReason(meant = ''): RollcallError {
  return usage(
    `--reason: expected a reason as \`rollcall failures\` lists it, like issue:email:invalid${meant}`,
  )
}
