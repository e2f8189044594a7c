import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { Command } from '@commander-js/extra-typings'

/** The parts of its process that a command may touch; tests give it their own. */
export type Io = {
  /** Data, and nothing else. */
  readonly out: (line: string) => void
  /** Everything that is not data: progress, warnings, errors. */
  readonly err: (line: string) => void
  readonly env: NodeJS.ProcessEnv
  readonly cwd: string
  readonly terminal: boolean
  /** Where progress is drawn; absent: nowhere, and it is printed in lines. */
  readonly screen?: NodeJS.WriteStream
  /** Aborted by the first SIGINT or SIGTERM; the second ends the process at once. */
  readonly stop: AbortSignal
}

/** 0 done and nothing found; 1 it failed; 2 the call or the configuration is wrong; 3 it worked and found something. */
export type ExitCode = 0 | 1 | 2 | 3

export type AddCommand = (program: Command, io: Io, exit: (code: ExitCode) => void) => void

export async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort')
}

/** The package that this file belongs to, from src/ and from dist/ alike. */
const PACKAGE = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
export const { version: VERSION }: { readonly version: string } = JSON.parse(PACKAGE)
