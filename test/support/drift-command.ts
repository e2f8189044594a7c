// `rollcall drift …` as its process runs it, in ours; stdout and stderr apart.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { main } from '../../src/cli/main.ts'
import type { House } from './house.ts'

export type Ran = { readonly code: number; readonly out: string; readonly err: string }

type Options = {
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly stop?: AbortSignal
  readonly onErr?: (line: string) => void
  /** Where it runs; a folder of its own otherwise. */
  readonly cwd?: string
}

export async function runDrift(
  house: Pick<House, 'authored' | 'env'>,
  args: readonly string[],
  { env = {}, stop = new AbortController().signal, cwd, onErr }: Options = {},
): Promise<Ran> {
  const folder = cwd ?? (await mkdtemp(join(tmpdir(), 'rollcall-test-')))
  try {
    await writeFile(join(folder, 'rollcall.config.js'), `export default ${JSON.stringify(house.authored)}`)
    const [out, err]: [string[], string[]] = [[], []]
    const code = await main(['drift', ...args], {
      out: (line) => out.push(line),
      err(line) {
        err.push(line)
        onErr?.(line)
      },
      env: { ...house.env, QUEUE_URL: undefined, ...env },
      cwd: folder,
      terminal: false,
      stop,
    })
    return { code, out: `${out.join('\n')}\n`, err: `${err.join('\n')}\n` }
  } finally {
    if (cwd === undefined) await rm(folder, { recursive: true })
  }
}
