import type { Config } from '../config/config.ts'
import { type Env, readEnv } from '../config/env.ts'
import { roleBehind } from '../database/pool.ts'
import { type CallLog, makeCallLog } from '../ledger/call-log.ts'
import { mappingChanged } from '../ledger/generation.ts'
import { reachable } from '../ledger/reachable.ts'
import { processName } from '../ops/log.ts'
import { sleep } from '../ops/time.ts'
import { type Opened, openSync } from '../worker/open-sync.ts'
import { makeProbe } from '../worker/probe.ts'
import { SYNC_ENV } from './binding.ts'
import type { Io } from './io.ts'

export type Syncing = {
  readonly env: Env<(typeof SYNC_ENV)[number], never>
  readonly opened: Opened
  readonly calls: CallLog
  /** There may be no worker that would find out whether the service works again. */
  readonly probe: ReturnType<typeof makeProbe>
}

/** The dependencies with which a worker syncs and checks, for a command that calls the service by itself. */
export async function withSync<T>(
  io: Io,
  { config, by }: { readonly config: Config; readonly by: 'sync' | 'drift' },
  work: (syncing: Syncing) => Promise<T>,
): Promise<T> {
  const env = readEnv(io.env, { need: SYNC_ENV })
  const opened = await openSync({ config, env, onPoolError: () => undefined })
  const { pool, context, mapping } = opened
  const onTrouble = () => io.err('note: calls may be missing in the log of calls')
  const calls = makeCallLog({ pool, by: processName(by), sleep, onTrouble })
  try {
    if (!mapping.current) throw mappingChanged(mapping)
    const probe = makeProbe({ pool, users: context.users, signal: io.stop, log: calls.add })
    return await reachable(() => work({ env, opened, calls, probe }), { role: roleBehind(pool) })
  } finally {
    await calls.close()
    await opened.close()
  }
}
