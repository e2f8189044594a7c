// The command line as a process of its own, for what only a real process can show: signals, kills, exit codes.
import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { House } from './house.ts'
import { moved } from './progress.ts'

/** The sources; `npm run test:full` and chaos name the bundle, which is what users run. */
const BIN = fileURLToPath(new URL(`../../${process.env.TEST_BIN ?? 'src/cli/bin.ts'}`, import.meta.url))

export type Exit = { readonly code: number | null; readonly signal: NodeJS.Signals | null }
export type RunningProcess = AsyncDisposable & {
  readonly pid: number
  readonly exited: Promise<Exit>
  output(): string
  kill(signal: NodeJS.Signals): void
}

/** Runs `rollcall …` with the house's environment and configuration; killed at the latest when disposed. */
export async function runRollcall(
  house: Pick<House, 'authored' | 'env'>,
  args: readonly string[],
): Promise<RunningProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'rollcall-test-'))
  await writeFile(join(folder, 'rollcall.config.js'), `export default ${JSON.stringify(house.authored)}`)
  const child = spawn(process.execPath, [BIN, ...args], {
    cwd: folder,
    env: { ...process.env, LOG_LEVEL: 'info', OPS_PORT: '0', ...house.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
      moved()
    })
  const exited = new Promise<Exit>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => resolve({ code, signal }))
  })
  if (child.pid === undefined) throw new Error('the process did not start')
  return {
    pid: child.pid,
    exited,
    output: () => text,
    kill: (signal) => child.kill(signal),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await exited
      await rm(folder, { recursive: true, force: true })
    },
  }
}
