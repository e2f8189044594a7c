// The command line in this process: quicker than a process of its own, and for configurations that hold functions.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExitCode } from '../../src/cli/io.ts'
import { main } from '../../src/cli/main.ts'

export type Said = { readonly code: ExitCode; readonly out: string; readonly err: string }
export type Command = AsyncDisposable & {
  /** Of its configuration. */
  readonly file: string
  run(env: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Said>
}

/** `config`: the text of the file's default export. */
export async function makeCommand(config: string): Promise<Command> {
  const cwd = await mkdtemp(join(tmpdir(), 'rollcall-test-'))
  const file = join(cwd, 'rollcall.config.js')
  await writeFile(file, `export default ${config}`)
  return {
    file,
    async run(env, ...args) {
      const [out, err]: [string[], string[]] = [[], []]
      const streams = {
        out: (line: string) => void out.push(line),
        err: (line: string) => void err.push(line),
      }
      const stop = new AbortController().signal
      const code = await main(args, { ...streams, env, cwd, terminal: false, stop })
      return { code, out: out.join('\n'), err: err.join('\n') }
    },
    [Symbol.asyncDispose]: () => rm(cwd, { recursive: true, force: true }),
  }
}
