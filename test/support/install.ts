import type { Pool } from 'pg'
import { install } from '../../src/capture/install.ts'
import { planCapture } from '../../src/capture/relations.ts'
import type { Config } from '../../src/config/config.ts'

/** As `rollcall capture install` does it. */
export async function installCapture(pool: Pool, config: Config): Promise<void> {
  const client = await pool.connect()
  await install(client, await planCapture(client, config))
  client.release()
}
