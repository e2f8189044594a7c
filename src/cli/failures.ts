import type { Pool } from 'pg'
import { loadConfig } from '../config/load.ts'
import { listFailing, readFailures } from '../ledger/failures.ts'
import { readHistory } from '../ledger/history.ts'
import { retryAll, retryKeys } from '../ledger/retry.ts'
import type { Selector } from '../ledger/selector.ts'
import { closest } from '../model/closest.ts'
import type { CustomerKey } from '../model/customer.ts'
import type { FieldIssue } from '../model/mapped.ts'
import type { NamedService } from '../model/service.ts'
import { USER_FIELDS } from '../model/user.ts'
import { namedService } from '../service/target.ts'
import { withTables } from './connect.ts'
import type { AddCommand, ExitCode, Io } from './io.ts'
import { knownSpelling } from './named.ts'
import { readLimit, usage } from './option-values.ts'
import { asJson } from './render.ts'
import {
  failureName,
  issueName,
  saidOf,
  sayFailures,
  sayGroup,
  sayList,
  sayOne,
  sayRetried,
} from './say-failures.ts'
import { isReasonCode, REASON_CODES, sayIssue } from './say-reason.ts'

type Options = {
  readonly reason?: string
  readonly limit?: string
  readonly retry?: boolean
  readonly all?: boolean
  readonly json?: boolean
}

const EXAMPLES = `
REASON is what the list of reasons calls it: a code (refused), a code with the
status or error that came with it (refused:422, unknown:timeout), or
issue:FIELD for those with an issue of the field (issue:email,
issue:email:refused).

--retry forgets which values the service refused, so that they are sent again,
and makes the customers due. A wait that protects a request that may still
arrive is kept. A row that is corrected needs no --retry.

It needs DATABASE_URL alone; a configuration, where there is one, only names the
environment.

Exit codes:
  0  nobody is rejected, failing or with a field left out; or all are retried
  3  somebody is; or a customer that was named is not known
  1  it failed
  2  the call or the environment is wrong, or the tables need a migration

Examples:
  rollcall failures                          every reason, with what to do
  rollcall failures --reason refused:422     the customers with this reason
  rollcall failures --reason issue:email --limit 1000
  rollcall failures 4711                     one, with its history
  rollcall failures --retry 4711 4712        try these again now
  rollcall failures --retry --reason denied  after the credentials were mended
  rollcall failures --retry --all`

/** `rollcall failures`: what is rejected, failing or left out, why, what to do about it; and trying again. */
export const failuresCommand: AddCommand = (program, io, exit) => {
  program
    .command('failures')
    .description('say what is rejected, failing or left out, why, and what to do; try again')
    .argument('[key...]', 'customer keys')
    .option('--reason <reason>', 'those with this reason; see below')
    .option('--limit <number>', 'list this many at most, with --reason (default: 100)')
    .option('--retry', 'try again now: the named customers, those of --reason, or --all')
    .option('--all', 'everybody, with --retry')
    .option('--json', 'print it as JSON')
    .addHelpText('after', EXAMPLES)
    .action(async (keys: string[], options: Options) => {
      const asked = readFailuresAsked(keys, options)
      const code = await withTables(io, async (pool) => {
        const spelt = 'keys' in asked ? { ...asked, keys: await knownSpelling(pool, asked.keys) } : asked
        return await answer(io, { pool, asked: spelt, json: options.json === true })
      })
      exit(code)
    })
}

/** What a call asks for. */
type FailuresAsked =
  | { readonly kind: 'groups' }
  | { readonly kind: 'list'; readonly selector: Selector; readonly limit: number }
  | { readonly kind: 'histories'; readonly keys: readonly CustomerKey[] }
  | { readonly kind: 'retry-keys'; readonly keys: readonly CustomerKey[] }
  | { readonly kind: 'retry-all'; readonly selector: Selector }

/** @throws RollcallError USAGE, which says what to call instead. */
export function readFailuresAsked(
  keys: readonly CustomerKey[],
  options: Omit<Options, 'json'>,
): FailuresAsked {
  const { reason, limit, retry = false, all = false } = options
  const chosen = [keys.length > 0, reason !== undefined, all].filter(Boolean).length
  if (chosen > 1) throw usage('customer keys, --reason and --all exclude each other')
  if (all && !retry) throw usage('--all goes with --retry; without it, everything is shown anyway')
  if (retry && chosen === 0) throw usage('--retry needs to know whom: customer keys, --reason, or --all')
  if (limit !== undefined && (reason === undefined || retry))
    throw usage('--limit goes with --reason, and not with --retry')
  if (retry) {
    if (keys.length > 0) return { kind: 'retry-keys', keys }
    return { kind: 'retry-all', selector: reason === undefined ? { kind: 'all' } : readSelector(reason) }
  }
  if (reason !== undefined)
    return { kind: 'list', selector: readSelector(reason), limit: readLimit(limit ?? '100') }
  return keys.length > 0 ? { kind: 'histories', keys } : { kind: 'groups' }
}

const ISSUE_FIELDS = [...USER_FIELDS, 'scope'] as const
const ISSUE_CODES = Object.keys({
  invalid: true,
  missing: true,
  refused: true,
  taken: true,
  'not-in-values': true,
  'function-failed': true,
} satisfies Record<FieldIssue['code'], true>)

/** A code is checked later: the tables may hold one that this version does not know. */
function readSelector(reason: string): Selector {
  const [head = '', ...rest] = reason.split(':')
  const tail = rest.join(':')
  if (head === '' || (rest.length > 0 && tail === ''))
    throw usage('--reason: expected CODE, CODE:STATUS or issue:FIELD')
  if (head === 'issue') return readIssue(rest)
  return { kind: 'reason', code: head, detail: rest.length > 0 ? tail : null }
}

function readIssue([field = '', code]: readonly string[]): Selector {
  if (!ISSUE_FIELDS.some((known) => known === field))
    throw usage(`--reason: issue: is followed by the name of a field${hint(field, ISSUE_FIELDS)}`)
  if (code !== undefined && !ISSUE_CODES.includes(code))
    throw usage(`--reason: there is no such issue of a field${hint(code, ISSUE_CODES)}`)
  return { kind: 'issue', field, code: code ?? null }
}

function hint(name: string, known: readonly string[]): string {
  const near = closest(name, known)
  return near === undefined ? '' : `; did you mean ${near}?`
}

type Answering = { readonly pool: Pool; readonly asked: FailuresAsked; readonly json: boolean }

async function answer(io: Io, { pool, asked, json }: Answering): Promise<ExitCode> {
  const tell = (value: object, lines: readonly string[]) => {
    if (json) io.out(asJson(value))
    else for (const line of lines) io.out(line)
  }
  switch (asked.kind) {
    case 'groups': {
      const found = await readFailures(pool)
      const target = await nameIfConfigured(found.origin, io.cwd)
      const reasons = found.reasons.map((each) => ({ reason: failureName(each), ...each, ...sayGroup(each) }))
      const issues = found.issues.map((each) => ({
        reason: issueName(each),
        ...each,
        ...sayIssue(each),
      }))
      tell({ ...found, target, reasons, issues }, sayFailures(found, target))
      return found.reasons.length > 0 || found.issues.length > 0 ? 3 : 0
    }
    case 'list': {
      const found = await listFailing(pool, asked.selector, asked.limit)
      if (found.total === 0) checkCode(asked.selector)
      tell(found, sayList(found, asked.selector))
      return found.total > 0 ? 3 : 0
    }
    case 'histories':
      return await showHistories(pool, asked.keys, tell)
    case 'retry-keys':
    case 'retry-all': {
      const retried =
        asked.kind === 'retry-keys' ? await retryKeys(pool, asked.keys) : await retryAll(pool, asked.selector)
      if (asked.kind === 'retry-all' && retried.customers === 0) checkCode(asked.selector)
      tell(retried, sayRetried(retried))
      return retried.unheardOf.length > 0 ? 3 : 0
    }
    default:
      return asked satisfies never
  }
}

/** Nothing else here needs the configuration: one that is missing or broken is no reason to fail. */
async function nameIfConfigured(origin: string | null, cwd: string): Promise<NamedService | null> {
  if (origin === null) return null
  const config = await loadConfig(undefined, cwd).catch(() => null)
  return config && namedService(origin, config)
}

/** A mistyped reason must not pass for one that nobody has. */
function checkCode(selector: Selector): void {
  if (selector.kind !== 'reason' || isReasonCode(selector.code)) return
  throw usage(`--reason: there is no such reason${hint(selector.code, REASON_CODES)}`)
}

const CALLS = 10

async function showHistories(
  pool: Pool,
  keys: readonly CustomerKey[],
  tell: (value: object, lines: readonly string[]) => void,
): Promise<ExitCode> {
  const found = []
  for (const key of new Set(keys)) found.push({ key, history: await readHistory(pool, key, CALLS) })
  tell(
    found.map(({ key, history }) => ({ key, history, advice: history ? saidOf(history) : [] })),
    found.flatMap(({ key, history }, index) => [...(index > 0 ? [''] : []), ...sayOne(history, key)]),
  )
  const fine = found.every(({ history }) => history !== null && saidOf(history).length === 0)
  return fine ? 0 : 3
}
