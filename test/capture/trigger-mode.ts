import { install } from '../../src/capture/install.ts'
import { outboxSource } from '../../src/capture/outbox.ts'
import { planCapture } from '../../src/capture/relations.ts'
import type { CaptureMode } from './scene.ts'

export const triggerMode: CaptureMode = {
  name: 'triggers',
  async start(db, config) {
    const client = await db.pool.connect()
    try {
      await install(client, await planCapture(client, config))
    } finally {
      client.release()
    }
    return {
      source: outboxSource(db.pool),
      caughtUp: async () => undefined, // the outbox is written in the customer's own transaction
      [Symbol.asyncDispose]: async () => undefined,
    }
  },
}
