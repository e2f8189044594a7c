// `rollcall drift …` as its process runs it, in ours; stdout and stderr apart.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runIn } from './command.ts'
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
  { env, cwd, ...running }: Options = {},
): Promise<Ran> {
  const folder = cwd ?? (await mkdtemp(join(tmpdir(), 'rollcall-test-')))
  try {
    await writeFile(join(folder, 'rollcall.config.js'), `export default ${JSON.stringify(house.authored)}`)
    const { code, out, err } = await runIn(
      folder,
      { ...house.env, QUEUE_URL: undefined, ...env },
      ['drift', ...args],
      running,
    )
    return { code, out: `${out}\n`, err: `${err}\n` }
  } finally {
    if (cwd === undefined) await rm(folder, { recursive: true })
  }
}
