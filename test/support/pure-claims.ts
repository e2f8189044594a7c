// One customer and its claims without a server: what the tables would hold is kept in a variable, and endings
// are applied to it as the statements of the protocol do.
import type { Row } from '../../src/config/config.ts'
import type { RollcallConfig } from '../../src/config/define.ts'
import { resolveConfig } from '../../src/config/resolve.ts'
import type { Ending } from '../../src/ledger/ending.ts'
import { type LedgerRecord, NO_RECORD } from '../../src/ledger/record.ts'
import { OPTIONAL_FIELDS, type OptionalField } from '../../src/model/user.ts'
import type { Permit } from '../../src/pace/pace.ts'
import type { SyncContext, SyncStep } from '../../src/sync/context.ts'
import { makeDigester } from '../../src/sync/digest.ts'
import { type ClaimRun, runClaim } from '../../src/sync/run.ts'
import { Killed, makePureService, type PureService } from './pure-service.ts'

export const KEY = '7'
const SECRET = 'a digest key of thirty-two chars!'

/** Every field from a column of its own name, as far as it is listed. */
export function configOf(
  fields: readonly OptionalField[] = OPTIONAL_FIELDS,
  rest: Partial<RollcallConfig> = {},
) {
  const optional = Object.fromEntries(fields.map((field) => [field, field]))
  const status = { column: 'plan', values: { free: 0, premium: 2, trial: 4 } }
  const authored = {
    customers: { table: 'customers', key: 'id' },
    mapping: { user_id: 'id', status, ...optional },
    ...rest,
  }
  return resolveConfig(authored, 'rollcall.config.ts')
}

export type Kept = {
  record: LedgerRecord
  unknown: boolean
  hiddenUnknown: boolean
  statusUnknown: boolean
  attempts: number
  version: number
  /** In how long it is planned again though nothing has changed; a test lets the time pass by setting it to null. */
  replanInMs: number | null
  /** Digest of the desired user at the last ending. */
  desiredDigest: string | null
}

export type Customer = {
  readonly service: PureService
  readonly kept: Kept
  readonly steps: SyncStep[]
  /** Permits that are out: taken, not given back, and no call made with them. */
  readonly permits: { taken: number; givenBack: number }
  row: Row | 'ambiguous' | null
  config: ReturnType<typeof configOf>
  secret: string
  /** Runs one claim; `killed` when the process died in it. */
  claim(run?: Partial<ClaimRun>, context?: Partial<SyncContext>): Promise<Ending | 'killed'>
}

type Options = {
  readonly service?: PureService
  readonly config?: ReturnType<typeof configOf>
  readonly row?: Row | null
}

export function makeCustomer({ service = makePureService(), config = configOf(), row = null }: Options = {}) {
  const kept: Kept = {
    record: NO_RECORD,
    unknown: false,
    hiddenUnknown: false,
    statusUnknown: false,
    attempts: 0,
    version: 1,
    replanInMs: null,
    desiredDigest: null,
  }
  const permits = { taken: 0, givenBack: 0 }
  const customer: Customer = {
    service,
    kept,
    steps: [],
    permits,
    row,
    config,
    secret: SECRET,
    async claim(run = {}, context = {}) {
      permits.taken++
      customer.steps.length = 0
      const { version, record: _, desiredDigest: __, ...known } = kept
      const made = {
        ...{ changedAtMs: null, nowMs: Date.now(), generation: '1' },
        mayHaveWritten: kept.unknown,
      }
      const claim = { id: '1', token: '1', key: KEY, version: `${version}`, ...known, ...made }
      try {
        const { ending, end, freed } = await runClaim(
          { ...contextOf(customer), ...context },
          { ...PLAIN_RUN, claim, observe: (s) => customer.steps.push(s), ...run },
        )
        customer.steps.push({ step: 'ended', end })
        settle(kept, ending)
        return { ...ending, freed }
      } catch (error) {
        if (!(error instanceof Killed)) throw error
        Object.assign(kept, { unknown: true, hiddenUnknown: true })
        return 'killed'
      }
    },
  }
  return customer
}

const PERMIT: Permit = { usableUntil: Number.POSITIVE_INFINITY, epoch: '0', drops: 0 }
const never = () => new AbortController().signal
export const PLAIN_RUN = {
  permit: PERMIT,
  hasTime: () => true,
  expired: never(),
  stopping: never(),
  abort: never(),
}

export function contextOf(customer: Customer): SyncContext {
  const { config, permits, service, kept } = customer
  return {
    config,
    users: service.client,
    digester: makeDigester(customer.secret),
    permits: {
      take: async () => {
        permits.taken++
        return PERMIT
      },
      stands: () => true,
      giveBack: () => {
        permits.givenBack++
      },
      drop: () => undefined,
    },
    random: () => 0.5,
    readRow: async () => customer.row,
    readOther: async () => null,
    readRecord: async () => ({
      ...NO_RECORD,
      ...structuredClone(kept.record),
      desiredDigest: kept.desiredDigest,
      isNew: false,
    }),
    readRecordsOf: async () => [],
    unwatched: async () => [],
    brake: async () => [],
    async markStatusUnknown() {
      kept.statusUnknown = true
    },
    async endDiscard() {
      kept.record = { ...kept.record, state: 'failing', reason: { code: 'unknown' }, discard: null }
    },
    markAsked: async () => undefined,
    whenNoted: async () => true,
    report: async () => undefined,
    wakeWaiting: async () => undefined,
  }
}

/** As the ending's statement: see docs/protocol.md. */
function settle(kept: Kept, ending: Ending): void {
  const { kind, claim, record, desiredDigest, lastAnswer } = ending
  const { failed, replanAtMs, statusKnown } = { ...ending.next, ...ending.lookups }
  const sure = lastAnswer !== null
  kept.desiredDigest = desiredDigest
  if (kind === 'settle' || replanAtMs !== null)
    kept.replanInMs = replanAtMs === null ? null : replanAtMs - claim.nowMs
  if (kind === 'settle') {
    kept.unknown &&= !sure
    kept.hiddenUnknown &&= !sure
    kept.statusUnknown &&= !sure
  } else if (statusKnown) kept.statusUnknown = false
  if (kind === 'unknown') kept.unknown = true
  kept.attempts = kind === 'settle' ? 0 : kept.attempts + (failed ? 1 : 0)
  kept.record = JSON.parse(JSON.stringify(record)) as LedgerRecord
}
