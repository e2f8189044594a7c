import { onTestFinished } from 'vitest'
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/server.ts'
import { ofFile } from '../support/of-file.ts'

export const KEYS = { apiKey: 'api', secretKey: 'secret' }
export const HEADERS = { 'Api-Key': 'api', 'Secret-Key': 'secret', 'Content-Type': 'application/json' }

/** One for all tests of a file. */
export function sandboxOfFile(options: Partial<SandboxOptions> = {}): Sandbox {
  return ofFile(async () => {
    const sandbox = await startSandbox({ ...KEYS, ...options })
    return { ...sandbox, [Symbol.asyncDispose]: sandbox.stop }
  })
}

export async function sandboxOfTest(options: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  const sandbox = await startSandbox({ ...KEYS, ...options })
  onTestFinished(sandbox.stop)
  return sandbox
}

export type Talked = { readonly status: number; readonly json: unknown }
type Said = { readonly headers?: Record<string, string>; readonly body?: unknown }

/** One call and its answer; a body that is no text is sent as JSON. */
export async function talk(to: Sandbox, call: string, { headers = {}, body }: Said = {}): Promise<Talked> {
  const [method = 'GET', path = '/'] = call.split(' ')
  const text = typeof body === 'string' || body === undefined ? (body ?? null) : JSON.stringify(body)
  const response = await fetch(to.url + path, { method, headers, body: text })
  const answer = await response.text()
  return { status: response.status, json: answer === '' ? undefined : (JSON.parse(answer) as unknown) }
}

/** The headers of section 5 for a chat call of a registered user. */
export async function chatHeaders(of: Sandbox, userId: string): Promise<Record<string, string>> {
  return bearing(await of.issueToken(userId))
}

export function bearing(token: string): Record<string, string> {
  return { 'Api-Key': KEYS.apiKey, Authorization: `Bearer ${token}`, Accept: 'application/json' }
}
