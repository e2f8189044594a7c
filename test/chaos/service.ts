// The service of a run: the sandbox as one preset after the other with every fault, or answers that no preset gives.
import { type ContractInput, contract } from '../../src/sandbox/contract/contract.ts'
import { startSandbox } from '../../src/sandbox/server.ts'
import { fireRules, SHARE } from '../support/fire.ts'
import { SECRETS } from '../support/house.ts'
import { startOddService } from '../support/odd-service.ts'
import { KINDS } from '../support/presets.ts'
import type { Held } from '../support/random-customers.ts'
import type { ServiceDeed } from './deeds.ts'
import { LAG_MS, TIMEOUT_MS } from './ground.ts'

/** Of all calls: who is killed or changed meanwhile shall be in the middle of one. */
const LATE = 0.4

export type ServiceKind = 'preset' | 'odd'

/** A request that arrived; times in epoch milliseconds by our own clock. */
export type Arrival = {
  readonly number: number
  readonly userId: string
  readonly method: string
  /** As it was sent, '' for none. */
  readonly raw: string
  readonly arrivedAt: number
  /** When the answer was handed over; null: never, or the service does not say. */
  readonly answeredAt: number | null
  readonly status: number | null
  readonly carriedOut: boolean
  /** It answered as it always does, perhaps late. */
  readonly plain: boolean
  /** What was done to it, and as what kind of service it was answered. */
  readonly note: string
}

export type Service = AsyncDisposable & {
  readonly url: string
  /** Becomes what the deed says, and stays so. */
  become(deed: ServiceDeed): void
  /** Works, and answers as documented. */
  mend(): void
  held(userId: string): Held
  arrivals(): readonly Arrival[]
}

export function startService(kind: ServiceKind, seed: number): Promise<Service> {
  return kind === 'preset' ? startPresets(seed) : startOdd(seed)
}

async function startPresets(seed: number): Promise<Service> {
  const sandbox = await startSandbox({
    apiKey: SECRETS.SERVICE_API_KEY,
    secretKey: SECRETS.SERVICE_SECRET_KEY,
    seed,
    journalSize: 1_000_000,
  })
  const eras: { readonly from: number; readonly name: string }[] = []
  const era = (name: string, input: ContractInput) => {
    eras.push({ from: Date.now(), name })
    const { visibleAfterMs } = contract.parse(input)
    sandbox.contract.set({ ...input, visibleAfterMs: Math.min(LAG_MS, visibleAfterMs) })
  }
  return {
    url: sandbox.url,
    become(deed) {
      if (deed.kind === 'preset') {
        era(deed.name, KINDS[deed.name])
        sandbox.faults.set(fireRules(TIMEOUT_MS, LATE))
      } else {
        eras.push({ from: Date.now(), name: deed.kind })
        sandbox.faults.set([
          { action: deed.kind === 'outage' ? { kind: 'down' } : { kind: 'status', status: 401 } },
        ])
      }
    },
    mend() {
      sandbox.faults.clear()
      era('documented', {})
    },
    held: (userId) => sandbox.users.get(userId),
    arrivals: () =>
      sandbox.journal.list().map((entry) => ({
        ...entry,
        userId: entry.userId ?? '',
        carriedOut: entry.stored,
        plain: entry.answeredAt !== null && entry.faults.every((fault) => fault === 'latency'),
        note: [eras.findLast(({ from }) => from <= entry.arrivedAt)?.name, ...entry.faults].join(' '),
      })),
    [Symbol.asyncDispose]: () => sandbox.stop(),
  }
}

async function startOdd(seed: number): Promise<Service> {
  const service = await startOddService(seed)
  return {
    url: service.url,
    become(deed) {
      service.share = deed.kind === 'preset' ? SHARE : 1
    },
    mend() {
      service.share = 0
    },
    held: (userId) => service.users.get(userId),
    arrivals: () =>
      service.arrivals.map((arrival, at) => ({
        ...arrival,
        number: at + 1,
        answeredAt: arrival.odd === null ? arrival.arrivedAt : null,
        status: null,
        plain: arrival.odd === null,
        note: arrival.odd ?? '',
      })),
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  }
}
