import { hash } from 'node:crypto'
import { forecastBrake, readCounted, readKindCounts } from '../brake/forecast.ts'
import { countBases } from '../brake/reserve.ts'
import { openMarks } from '../capture/marks.ts'
import { describeCustomers } from '../customers/describe.ts'
import { countCustomers } from '../customers/pages.ts'
import { redactedPlan } from '../explain/redact.ts'
import { findMapping } from '../ledger/generation.ts'
import { mayRead, whyUnreadable } from '../ledger/readable.ts'
import { allAreBroughtIn } from '../ledger/runs.ts'
import { boundOrigin, requireTarget } from '../ledger/target.ts'
import { readPace } from '../pace/read.ts'
import { figure } from '../report/figures.ts'
import { namedService } from '../service/address.ts'
import { addCustomer, type Forecast, NO_FORECAST, totalCalls } from '../sweep/forecast.ts'
import { sweep } from '../sweep/sweep.ts'
import { ALL_CUSTOMERS, type PlannedCustomer } from '../sweep/verdict.ts'
import { makeDigester, NO_KEY } from '../sync/digest.ts'
import { type Asking, activeMapping, readRestriction } from './backfill-asked.ts'
import { BINDING_ENV } from './binding.ts'
import { withDatabase } from './connect.ts'
import type { Io } from './io.ts'
import { renderPlan } from './render-step.ts'

/** `rollcall backfill --dry-run`: no call, no write, and no right needed but to read the customers. */
export async function forecastBackfill(io: Io, { config, asked, progress }: Asking) {
  const wanted = { may: BINDING_ENV, tables: false, endsItself: true }
  return await withDatabase(io, wanted, async (pool, env) => {
    const { ROLLCALL_DIGEST_KEY: digestKey, SERVICE_URL, SERVICE_API_KEY: apiKey } = env
    /** Why all customers are planned as if nothing had ever been sent; null: they are not. */
    const withoutLedger = digestKey === undefined ? ('no-key' as const) : await whyUnreadable(pool)
    if (!withoutLedger) await requireTarget(pool, { origin: SERVICE_URL, apiKey, digestKey })
    const origin = SERVICE_URL ?? (withoutLedger ? null : await boundOrigin(pool))
    /** Without this right it is not known which customers the brake has counted already. */
    const mayCount = withoutLedger === null && (await mayRead(pool, 'brake_entry'))
    const { ended, forecast, sample, sharing } = await planAll(digestKey ?? NO_KEY)
    const { tally, ...rest } = forecast
    const { mapping, brake, pace } = await surroundings(forecast)
    return {
      ...{ target: origin === null ? null : namedService(origin, config), dryRun: true as const },
      ...{ ended, applied: false, withoutLedger, ...activeMapping(mapping) },
      ...{ ...tally, ...rest, sharing, brake, pace, sample },
      seconds: Math.round(totalCalls(forecast) / Math.min(pace.rate, asked.rate ?? pace.rate)),
    }

    async function planAll(digestKey: string) {
      const { conditions, select } = await readRestriction({ pool, config, digestKey }, asked)
      const bringIn = !asked.mapping || (withoutLedger === null && (await allAreBroughtIn(pool)))
      const digester = makeDigester(digestKey)
      const total = await countCustomers(pool, await describeCustomers(pool, config), conditions)
      const sample = makeSample<ReturnType<typeof sampled>>(asked.sample, Math.random)
      const shared = makeSharedUsers()
      let forecast: Forecast = NO_FORECAST
      const { ended } = await sweep({
        ...{ pool, config, digester, signal: io.stop, conditions },
        select: { ...ALL_CUSTOMERS, ...select, bringIn },
        withoutLedger: withoutLedger !== null,
        onPage: async ({ planned }) => {
          const differing = planned.filter(({ verdict }) => verdict === 'differs')
          const keys = mayCount ? differing.map(({ key }) => key) : []
          const counted = await readCounted(pool, keys, config.brake.windowHours)
          const forecasting = { policy: config, digester, counted: (key: string) => counted.get(key) ?? [] }
          for (const each of planned) forecast = addCustomer(forecast, each, forecasting)
          for (const each of differing) {
            sample.add(() => sampled(each))
            const userId = newUserOf(each)
            if (userId !== null) shared.add(userId)
          }
          const { customers, verdicts } = forecast.tally
          const note = `${figure(verdicts.differs)} differ`
          progress.show({ verb: 'compared', done: customers, total, note })
          return true
        },
      })
      return { ended, forecast, sample: sample.all(), sharing: shared.count() }
    }

    async function surroundings({ braked }: Forecast) {
      const { ceiling } = config.pace
      const brakeForecast = { customers: braked, rules: config.brake, expectCreates: asked.expectCreates }
      const installed = withoutLedger === null
      const pace = installed ? await readPace(pool) : null
      const kindCounts = mayCount ? await readKindCounts(pool, config.brake.windowHours) : []
      const bases = installed ? await countBases(pool) : { entitled: 0, present: 0 }
      const truncated = installed && (await openMarks(pool)).some(({ kind }) => kind === 'truncate')
      return {
        brake: forecastBrake({ ...brakeForecast, kindCounts, bases, truncated }),
        pace: { rate: pace?.rate ?? ceiling, ceiling: pace?.ceiling ?? ceiling },
        mapping: installed ? await findMapping(pool, config.fingerprint) : null,
      }
    }
  })
}

/** The user of a customer who would be brought in, and about which nothing is recorded that another one could meet. */
function newUserOf({ made }: PlannedCustomer): string | null {
  if (made?.mapped.kind !== 'user' || made.found.known || made.found.plan.kind === 'reject') return null
  return made.mapped.user.userId
}

/** `plan` holds no value of a field; `says` is the same for a person. */
function sampled({ key, made }: PlannedCustomer) {
  const plan = made?.found.plan ?? ({ kind: 'none', why: 'right' } as const)
  const status = made?.mapped.kind === 'user' ? made.mapped.user.status : null
  const redacted = redactedPlan(plan)
  return { key, status, plan: redacted, says: renderPlan(redacted) }
}

/** Some of many, each as likely as any other, without keeping the many (reservoir sampling, algorithm R). */
export function makeSample<T>(size: number, random: () => number) {
  const kept: T[] = []
  let seen = 0
  return {
    add(item: () => T): void {
      const at = seen < size ? seen : Math.floor(random() * (seen + 1))
      seen++
      if (at < size) kept[at] = item()
    },
    all: (): readonly T[] => kept,
  }
}

/**
 * Counts new customers who share a `user_id`, about which the ledger knows nothing yet. It keeps 52 bits of a digest of each
 * `user_id`, as a number: among a million customers two different ones meet by chance once in 9,000 runs.
 */
export function makeSharedUsers() {
  const digests: number[] = []
  return {
    add(userId: string): void {
      digests.push(Number.parseInt(hash('sha256', userId, 'hex').slice(0, 13), 16))
    },
    count(): number {
      const sorted = Float64Array.from(digests).sort()
      return sorted.filter((digest, at) => digest === sorted[at - 1] || digest === sorted[at + 1]).length
    },
  }
}
