import type { Config } from '../config/config.ts'
import { readEnv } from '../config/env.ts'
import { exitFor, type Result } from '../diff/diff.ts'
import { type Compared, type OpenDiff, openDiff } from '../diff/open.ts'
import type { CustomerKey } from '../model/customer.ts'
import { type NamedService, sayService } from '../model/service.ts'
import { namedService } from '../service/target.ts'
import { curesJson, knowledgeJson, lookJson } from './access-json.ts'
import { withImpatientPool } from './access-pool.ts'
import type { ExitCode, Io } from './io.ts'
import { asJson } from './json.ts'
import { namedKeys } from './named.ts'
import { sayDiff } from './say-diff.ts'
import { shown } from './shown.ts'
import { redacted } from './sync-json.ts'

type Asked = {
  readonly config: Config
  /** As typed. */
  readonly keys: readonly string[]
  readonly json: boolean
  readonly showValues: boolean
}

/** `rollcall sync --diff`: what is desired beside what the service has, field by field. Nothing is written. */
export async function diff(io: Io, asked: Asked): Promise<ExitCode> {
  const { config } = asked
  const env = readEnv(io.env, {
    need: ['DATABASE_URL', 'SERVICE_URL', 'SERVICE_API_KEY', 'SERVICE_SECRET_KEY'],
    may: ['ROLLCALL_DIGEST_KEY'],
  })
  const service = {
    origin: env.SERVICE_URL,
    apiKey: env.SERVICE_API_KEY,
    secretKey: env.SERVICE_SECRET_KEY,
  }
  const digestKey = env.ROLLCALL_DIGEST_KEY
  try {
    return await withImpatientPool({ url: env.DATABASE_URL, stop: io.stop }, async (pool) => {
      const opened = await openDiff({ pool, config, service, digestKey, stop: io.stop })
      try {
        const keys = await namedKeys({ io, pool, shape: opened.shape, keys: asked.keys })
        const target = namedService(env.SERVICE_URL, config)
        return await tell(io, opened, { ...asked, keys, target })
      } finally {
        await opened.close()
      }
    })
  } catch (error) {
    if (!io.stop.aborted) throw error
    io.err('rollcall: stopped; nothing was changed')
    return 1
  }
}

type Telling = Pick<Asked, 'json' | 'showValues'> & {
  readonly keys: readonly CustomerKey[]
  readonly target: NamedService
}

async function tell(
  io: Io,
  opened: OpenDiff,
  { keys, json, showValues, target }: Telling,
): Promise<ExitCode> {
  for (const warning of opened.warnings) io.err(`warning: ${shown(warning)}`)
  const results: Result[] = []
  const customers: object[] = []
  for await (const compared of opened.ask(keys)) {
    const { diff, values } = compared
    results.push(diff.result)
    if (json) {
      customers.push(diffJson(compared, showValues))
      continue
    }
    if (results.length > 1) io.out('')
    io.out(`customer ${shown(diff.looked.key)} at ${sayService(target)}`)
    for (const said of sayDiff(diff, showValues ? values : null)) io.out(said)
  }
  if (json) io.out(asJson({ target, customers }))
  return exitFor(results)
}

/** One customer for a program: codes in place of words, and no value of a field unless it is asked for. */
function diffJson({ diff, values }: Compared, showValues: boolean): object {
  const { looked, result, rows, absence, plans, records, cures } = diff
  const { key, userId, should, look, knowledge, next, rivals } = looked
  return {
    key,
    userId,
    result,
    should,
    service: lookJson(look),
    rollcall: knowledgeJson(knowledge),
    records,
    fields: rows.map((row) => ({ ...row, ...(showValues ? { values: values.get(row.field) } : {}) })),
    absence,
    next,
    plan: plans && redacted(plans.now),
    planAfterLook: plans?.looked ? redacted(plans.looked) : null,
    rivals,
    cures: curesJson(cures),
  }
}
