// A sandbox as its callers see it: over HTTP, with nothing in between that could mend an answer.
import { type Sandbox, startSandbox } from '../../../src/sandbox/server.ts'
import { bearing, HEADERS, KEYS } from '../talk.ts'

const { 'Content-Type': _type, ...KEY_HEADERS } = HEADERS

export type Seen = { readonly status: number; readonly type: string | null; readonly text: string }

export type Service = AsyncDisposable & {
  readonly sandbox: Sandbox
  /** With the keys, and nothing else that is not given. */
  send(path: string, init: RequestInit): Promise<Seen>
  create(body: unknown): Promise<Seen>
  retrieve(userId: string): Promise<Seen>
  replace(userId: string, body: unknown): Promise<Seen>
  update(userId: string, body: unknown): Promise<Seen>
  /** The control endpoint of the contract; the body is sent as it is. */
  control(method: string, body?: string): Promise<Seen>
  /** A chat endpoint, with a fresh token of the user. */
  chat(userId: string, path: string): Promise<Seen>
  /** As at the start: no users, the contract as documented. */
  reset(): void
}

export async function startService(): Promise<Service> {
  // Its clock stands still, so that only a test moves trials and delays on.
  const sandbox = await startSandbox({ ...KEYS, now: () => 1_700_000_000_000 })
  const send = async (path: string, init: RequestInit): Promise<Seen> => {
    const answer = await fetch(sandbox.url + path, init)
    return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() }
  }
  const user = (userId: string) => `/s2s/v1/users/${encodeURIComponent(userId)}`
  const write = (method: string, path: string, body: unknown) =>
    send(path, { method, headers: HEADERS, body: JSON.stringify(body) })
  return {
    sandbox,
    send: (path, { headers, ...init }) => send(path, { ...init, headers: { ...KEY_HEADERS, ...headers } }),
    create: (body) => write('POST', '/s2s/v1/users', body),
    retrieve: (userId) => send(user(userId), { headers: HEADERS }),
    replace: (userId, body) => write('PUT', user(userId), body),
    update: (userId, body) => write('PATCH', user(userId), body),
    control: (method, body) => send('/_sandbox/contract', { method, body: body ?? null }),
    async chat(userId, path) {
      return send(path, { headers: bearing(await sandbox.issueToken(userId)) })
    },
    reset() {
      for (const part of [
        sandbox.users,
        sandbox.journal,
        sandbox.faults,
        sandbox.clock,
        sandbox.conversations,
      ])
        part.clear()
      sandbox.contract.set({})
    },
    [Symbol.asyncDispose]: () => sandbox.stop(),
  }
}

export function jsonOf({ text }: Seen): unknown {
  return text === '' ? undefined : JSON.parse(text)
}
