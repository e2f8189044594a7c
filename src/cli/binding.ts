import type { Client } from '../database/client.ts'
import { differencesFromBinding, remedyFor } from '../ledger/target.ts'

export const BINDING_ENV = ['SERVICE_URL', 'SERVICE_API_KEY', 'ROLLCALL_DIGEST_KEY'] as const

export const SYNC_ENV = ['DATABASE_URL', ...BINDING_ENV, 'SERVICE_SECRET_KEY'] as const

/** Whether a worker may start here, for commands that do not call the service: `todo` is null where nothing differs. */
export async function bindingStatus(client: Client, env: { [V in (typeof BINDING_ENV)[number]]?: string }) {
  const { SERVICE_URL: origin, SERVICE_API_KEY: apiKey, ROLLCALL_DIGEST_KEY: digestKey } = env
  const differences = await differencesFromBinding(client, { origin, apiKey, digestKey })
  return { differences, todo: remedyFor(differences) }
}

export function renderBinding({ differences, todo }: Awaited<ReturnType<typeof bindingStatus>>): string[] {
  if (todo === null) return []
  return [
    `no worker can start with this environment: ${differences.map(({ says }) => says).join('; ')}. ${todo}`,
  ]
}
