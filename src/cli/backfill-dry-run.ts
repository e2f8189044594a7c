import type { Pool } from 'pg'
import { countBases } from '../brake/base.ts'
import { outlookOf } from '../brake/outlook.ts'
import { readCounted, readStandings } from '../brake/standing.ts'
import { openMarks } from '../capture/marks.ts'
import type { Config } from '../config/config.ts'
import { readEnv } from '../config/env.ts'
import { countCustomers } from '../customers/count.ts'
import { describeCustomers } from '../customers/describe.ts'
import { redactedPlan } from '../explain/redact.ts'
import { readStanding } from '../ledger/generation.ts'
import { mayRead, whyUnreadable } from '../ledger/readable.ts'
import { everybodyIsIn } from '../ledger/runs-read.ts'
import { boundOrigin, differencesFromBinding } from '../ledger/target.ts'
import { targetChanged } from '../ledger/target-changed.ts'
import { readPace } from '../pace/read.ts'
import { figure } from '../report/figures.ts'
import { namedService } from '../service/target.ts'
import { EVERYBODY } from '../sweep/differs.ts'
import { addAhead, type Forecast, NOTHING_AHEAD } from '../sweep/forecast.ts'
import type { Judged } from '../sweep/judge.ts'
import { sweep } from '../sweep/sweep.ts'
import { makeDigester } from '../sync/digest.ts'
import type { Plan } from '../sync/plan.ts'
import { policyOf } from '../sync/policy.ts'
import { type BackfillAsked, readRestriction } from './backfill-asked.ts'
import { withPool } from './connect.ts'
import type { ExitCode, Io } from './io.ts'
import { openProgress } from './progress.ts'
import { asJson } from './render.ts'
import { makeSample } from './sample.ts'
import { NOBODY_FITS } from './say-backfill.ts'
import { type Foretold, foretellsNobody, foretoldJson, type Sampled, sayForetold } from './say-forecast.ts'
import { makeSharers } from './sharers.ts'

/** Any key will do where nothing is compared with what another key has made. */
const NO_KEY = 'no digest key'

/** `rollcall backfill --dry-run`: no call, no write, and no right needed but to read the customers. */
export async function foretell(io: Io, config: Config, asked: BackfillAsked): Promise<ExitCode> {
  const env = readEnv(io.env, {
    need: ['DATABASE_URL'],
    may: ['ROLLCALL_DIGEST_KEY', 'SERVICE_URL', 'SERVICE_API_KEY'],
  })
  const foretold = await withPool({ url: env.DATABASE_URL }, async (pool) => {
    const digestKey = env.ROLLCALL_DIGEST_KEY
    const withoutLedger = digestKey === undefined ? ('no-key' as const) : await whyUnreadable(pool)
    const { SERVICE_URL, SERVICE_API_KEY: apiKey } = env
    if (!withoutLedger) {
      const differences = await differencesFromBinding(pool, { origin: SERVICE_URL, apiKey, digestKey })
      if (differences.length > 0) throw targetChanged(differences)
    }
    const origin = SERVICE_URL ?? (withoutLedger ? null : await boundOrigin(pool))
    const target = origin === null ? null : namedService(origin, config)
    return {
      target,
      ...(await look(io, { pool, config, asked, withoutLedger, digestKey: digestKey ?? NO_KEY })),
    }
  })
  const nobody = foretellsNobody(foretold)
  if (asked.json && nobody) io.err(`rollcall: ${NOBODY_FITS}`)
  if (asked.json) io.out(asJson(foretoldJson(foretold)))
  else for (const line of sayForetold(foretold, config)) io.out(line)
  if (!foretold.ended || nobody) return 1
  const { differs, unreadable } = foretold.forecast.tally.verdicts
  return differs + unreadable > 0 ? 3 : 0
}

type Looking = {
  readonly pool: Pool
  readonly config: Config
  readonly asked: BackfillAsked
  readonly withoutLedger: Foretold['withoutLedger']
  readonly digestKey: string
}

async function look(io: Io, looking: Looking): Promise<Omit<Foretold, 'target'>> {
  const { pool, config, asked, withoutLedger, digestKey } = looking
  const restriction = await readRestriction(looking, asked)
  const bringIn = !asked.mapping || (withoutLedger === null && (await everybodyIsIn(pool)))
  const digester = makeDigester(digestKey)
  const policy = policyOf(config)
  const countedOf = await makeReadCounted(looking)
  const sample = makeSample<Sampled>(asked.sample, Math.random)
  const total = await countCustomers(pool, await describeCustomers(pool, config), restriction.conditions)
  const sharers = makeSharers()
  const progress = openProgress(io, () => performance.now())
  let forecast: Forecast = NOTHING_AHEAD
  try {
    const { ended } = await sweep({
      ...{ pool, config, digester, signal: io.stop, conditions: restriction.conditions },
      select: { ...EVERYBODY, ...restriction.select, bringIn },
      withoutLedger: withoutLedger !== null,
      onPage: async ({ judged }) => {
        const differing = judged.filter(({ verdict }) => verdict === 'differs')
        const counted = await countedOf(differing)
        for (const each of judged) forecast = addAhead(forecast, each, { policy, digester, counted })
        for (const each of differing) sample.add(() => sampled(each))
        for (const userId of judged.flatMap(newcomerOf)) sharers.add(userId)
        const { customers, verdicts } = forecast.tally
        const note = `${figure(verdicts.differs)} differ`
        progress.show({ verb: 'looked at', done: customers, total, from: 0, note })
        return true
      },
    })
    const rest = { ended, asked, withoutLedger, sample: sample.all(), sharing: sharers.count() }
    return { ...rest, forecast, ...(await surroundings(looking, forecast)) }
  } finally {
    progress.close()
  }
}

/** The user of somebody who would be brought in, and of whom nothing is recorded that another one could meet. */
function newcomerOf({ verdict, made }: Judged): readonly string[] {
  if (verdict !== 'differs' || made?.mapped.kind !== 'user') return []
  return made.found.known || made.found.plan.kind === 'reject' ? [] : [made.mapped.user.userId]
}

/** Whom the brake would not count again; without the right to see that, nobody. */
async function makeReadCounted({ pool, config, withoutLedger }: Looking) {
  const may = withoutLedger === null && (await mayRead(pool, 'brake_entry'))
  return async (differing: readonly Judged[]) => {
    const keys = may ? differing.map(({ key }) => key) : []
    const counted = await readCounted(pool, keys, config.brake.windowHours)
    return (key: string) => counted.get(key) ?? []
  }
}

async function surroundings(
  { pool, config, asked, withoutLedger }: Looking,
  { braked: customers }: Forecast,
) {
  const known = withoutLedger === null
  const { ceiling, windowHours } = { ...config.pace, ...config.brake }
  const pace = known ? await readPace(pool) : null
  const mayCount = known && (await mayRead(pool, 'brake_entry'))
  const standings = mayCount ? await readStandings(pool, windowHours) : []
  const bases = known ? await countBases(pool) : { entitled: 0, present: 0 }
  const { expectCreates } = asked
  const truncated = known && (await openMarks(pool)).some(({ kind }) => kind === 'truncate')
  return {
    brake: outlookOf({ customers, standings, bases, rules: config.brake, expectCreates, truncated }),
    pace: pace ? { rate: pace.rate, ceiling: pace.ceiling } : { rate: ceiling, ceiling },
    standing: known ? await readStanding(pool, config.fingerprint) : null,
  }
}

/** Names of fields; what is in them is nobody's business here. */
function sampled({ key, made }: Judged): Sampled {
  const plan: Plan = made?.found.plan ?? { kind: 'none', why: 'right' }
  const status = made?.mapped.kind === 'user' ? made.mapped.user.status : null
  return { key, status, plan, json: redactedPlan(plan) }
}
