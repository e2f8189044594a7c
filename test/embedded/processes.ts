import { type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const PARENT = fileURLToPath(new URL('./parent.ts', import.meta.url))

export type Said = { pid: number; guardian?: number; folder: string; encoding?: string }

/** Starts test/embedded/parent.ts and waits for the line that it prints. */
export async function startParent(args: readonly string[], options: SpawnOptions = {}) {
  const child = spawn(process.execPath, [PARENT, ...args], { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'exit')
  let complaints = ''
  child.stderr?.on('data', (chunk) => {
    complaints += chunk
  })
  if (!child.stdout) throw new Error('no output')
  const line = once(createInterface({ input: child.stdout }), 'line') as Promise<[string]>
  const [first] = await Promise.race([line, ended.then(() => Promise.reject(new Error(complaints)))])
  return { child, ended, said: JSON.parse(first) as Said }
}

/** Signal 0 only asks; EPERM means that the process runs as another user. */
export function runs(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
