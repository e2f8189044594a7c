// The command line in this process: quicker than a process of its own, and for configurations that hold functions.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExitCode } from '../../src/cli/io.ts'
import { main } from '../../src/cli/main.ts'
import type { House } from './house.ts'

export type Said = {
  readonly code: ExitCode
  readonly out: string
  readonly err: string
  readonly output: string
}
type Env = Readonly<Record<string, string | undefined>>
export type Command = AsyncDisposable & {
  /** The configuration file. */
  readonly file: string
  /** `output`: what it says on both streams, in order. */
  run(env: Env, ...args: readonly string[]): Promise<Said>
}

/** `config`: the text of the file's default export. */
export async function makeCommand(config: string): Promise<Command> {
  const cwd = await mkdtemp(join(tmpdir(), 'rollcall-test-'))
  const file = join(cwd, 'rollcall.config.js')
  await writeFile(file, `export default ${config}`)
  return {
    file,
    run: (env, ...args) => runIn(cwd, env, args),
    [Symbol.asyncDispose]: () => rm(cwd, { recursive: true, force: true }),
  }
}

/** A command that needs no configuration, where there is none. */
export function runBare(databaseUrl: string, ...args: readonly string[]): Promise<Said> {
  return runIn('/', { DATABASE_URL: databaseUrl }, args)
}

type Running = { readonly stop?: AbortSignal; readonly onErr?: (line: string) => void }

export async function runIn(
  cwd: string,
  env: Env,
  args: readonly string[],
  { stop = new AbortController().signal, onErr }: Running = {},
): Promise<Said> {
  const said: { readonly to: 'out' | 'err'; readonly line: string }[] = []
  const streams = {
    out: (line: string) => void said.push({ to: 'out', line }),
    err(line: string) {
      said.push({ to: 'err', line })
      onErr?.(line)
    },
  }
  const code = await main(args, { ...streams, env, cwd, terminal: false, stop })
  const text = (lines: typeof said) => lines.map(({ line }) => line).join('\n')
  const on = (stream: 'out' | 'err') => text(said.filter(({ to }) => to === stream))
  return { code, out: on('out'), err: on('err'), output: text(said) }
}

/** One command with the environment and the configuration of a house. */
export async function rollcall(
  { authored, env }: Pick<House, 'authored'> & { readonly env: Env },
  ...args: readonly string[]
): Promise<Said> {
  await using command = await makeCommand(JSON.stringify(authored))
  return await command.run({ LOG_LEVEL: 'info', OPS_PORT: '0', ...env }, ...args)
}
