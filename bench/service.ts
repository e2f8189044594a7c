// The bare service, started; and a loop of got that does nothing but call it, as the measure of what is possible.
import { type ChildProcess, fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import { fileURLToPath } from 'node:url'
import got from 'got'

const TARGET = fileURLToPath(new URL('target.ts', import.meta.url))

export type Service = AsyncDisposable & {
  readonly url: string
  counts(): Promise<{ readonly users: number; readonly calls: number }>
  /** When the first request about the user arrived, in milliseconds since 1970; null: none has. */
  arrived(userId: string): Promise<number | null>
}

export type TargetOptions = {
  /** Milliseconds until it answers; default: 0. */
  readonly latencyMs?: number | undefined
  /** It takes each user for one that it has. */
  readonly allKnown?: boolean
}

export async function startService(options: TargetOptions = {}): Promise<Service> {
  const child = fork(TARGET, [JSON.stringify(options)])
  const port = await new Promise<number>((resolve) => child.once('message', (port) => resolve(Number(port))))
  const url = `http://127.0.0.1:${port}`
  return {
    url,
    counts: () => got(`${url}/counts`).json(),
    arrived: (userId) => got(`${url}/arrived/${userId}`).json(),
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => child.once('close', resolve))
      child.kill()
      await closed
    },
  }
}

/** The customer's columns with all that a mapping can take; the key first. */
export const COLUMNS = [
  ...['id', 'plan', 'email', 'nid_number', 'first_name', 'last_name', 'gender', 'birthdate', 'mobile_phone'],
  ...[
    'mobile_phone_prefix',
    'coverage_name',
    'contract_number',
    'service_language_code',
    'description',
    'country_code',
  ],
] as const

/** Expressions of SQL for one customer, whose number is `i`, in the order of the columns. */
export const VALUES = [
  ...[
    "'k' || i",
    "'premium'",
    "'k' || i || '@example.com'",
    "'N' || i",
    "'Given' || i",
    "'Family' || i",
    'i % 2',
  ],
  ...["'1980-01-01'::date + (i % 9000)::int", '(600000000 + i)::text', "'34'", "'Basic'", "'C' || i", "'es'"],
  ...["'number ' || i", "'ES'"],
] as const

/** Calls per second of a process that creates so many users with got, so many at once, and does nothing else. */
export function bareLoop(service: Service, users: number, concurrency: number): Promise<number> {
  return bare(users, concurrency, (i, options) => {
    const json = Object.fromEntries(COLUMNS.map((column) => [column, `${column} of bare ${i}`]))
    return got.post(`${service.url}/s2s/v1/users`, { ...options, json: { ...json, user_id: `bare${i}` } })
  })
}

/** The same for the users of the first so many customers, who are read. */
export function bareGets(service: Service, users: number, concurrency: number): Promise<number> {
  return bare(users, concurrency, (i, options) =>
    got.get(`${service.url}/s2s/v1/users/k${i + 1}`, options).json(),
  )
}

type Agents = { readonly agent: { readonly http: http.Agent } }

async function bare(
  users: number,
  concurrency: number,
  call: (i: number, options: Agents) => Promise<unknown>,
): Promise<number> {
  const agent = { http: new http.Agent({ keepAlive: true, maxSockets: concurrency }) }
  let next = 0
  const started = performance.now()
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (next < users) await call(next++, { agent })
    }),
  )
  agent.http.destroy()
  return users / ((performance.now() - started) / 1000)
}

/** Seconds of CPU that a process has used; null: it has ended. `ended`: also those of its children that have. */
export function cpuOf(pid: string | number, ended = false): number | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    const ticks = fields.slice(11, ended ? 15 : 13).map(Number)
    return ticks.reduce((sum, each) => sum + each, 0) / 100
  } catch {
    return null
  }
}

/** Seconds of CPU that a process has used, and the most memory that it has had resident, in MiB. */
export function usageOf(child: ChildProcess): { readonly cpu: number; readonly resident: number } {
  return { cpu: cpuOf(child.pid ?? 0) ?? 0, resident: residentOf(child, 'VmHWM') }
}

/** MiB: now, or the most. */
export function residentOf({ pid }: ChildProcess, which: 'VmRSS' | 'VmHWM' = 'VmRSS'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Math.round(Number(new RegExp(`${which}:\\s+(\\d+)`).exec(status)?.[1]) / 1024)
}
