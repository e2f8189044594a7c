// One more worker in a house, with another configuration than the house's own.
import { pino } from 'pino'
import type { RollcallConfig } from '../../src/config/define.ts'
import { resolveConfig } from '../../src/config/resolve.ts'
import { openQueue } from '../../src/dispatch/bullmq.ts'
import { installationName } from '../../src/ledger/target.ts'
import { openSync } from '../../src/worker/context.ts'
import { startWorker } from '../../src/worker/worker.ts'
import { type House, SECRETS } from './house.ts'

/** The house as its commands see it with another configuration file. */
export function reconfigured(house: House, changes: Partial<RollcallConfig>): House {
  return { ...house, authored: { ...house.authored, ...changes } }
}

export type OtherWorker = AsyncDisposable & {
  /** The messages that it has logged so far. */
  readonly said: readonly string[]
}

export async function startOther(house: House, changes: Partial<RollcallConfig>): Promise<OtherWorker> {
  const config = resolveConfig({ ...house.authored, ...changes }, 'rollcall.config.ts')
  const { DATABASE_URL = '', QUEUE_URL = '' } = house.env
  const env = { ...SECRETS, DATABASE_URL, SERVICE_URL: house.sandbox.url }
  const opened = await openSync({ config, env, onPoolError: () => undefined })
  const queue = await openQueue({
    queueUrl: QUEUE_URL,
    name: await installationName(opened.pool),
    onError: () => undefined,
  })
  const said: string[] = []
  const log = pino({ level: 'info' }, { write: (text: string) => void said.push(JSON.parse(text).msg) })
  const observers = { onCaptured: () => undefined, onStep: () => undefined }
  const worker = await startWorker({ opened, queue, log, observers })
  return {
    said,
    async [Symbol.asyncDispose]() {
      await worker.stop(3000)
      await queue.close()
      await opened.close()
    },
  }
}
