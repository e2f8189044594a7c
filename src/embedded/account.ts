// Postgres refuses to run as root, so root runs it as another account, which has to reach the files.
import { execFile } from 'node:child_process'
import { chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { RollcallError } from '../model/errors.ts'

export type Account = { readonly uid: number; readonly gid: number }

/** Runs a program to its end; rejects with what it wrote when it failed. */
export const runProgram = promisify(execFile)

/** Undefined: as ourselves. */
export async function serverAccount(): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined
  for (const name of ['postgres', 'nobody']) {
    try {
      const [uid, gid] = await Promise.all([runProgram('id', ['-u', name]), runProgram('id', ['-g', name])])
      return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
    } catch {
      // No such user.
    }
  }
  throw new RollcallError('EMBEDDED_FAILED', [
    'Postgres does not run as root, and this system has neither a user `postgres` nor a user `nobody`',
  ])
}

/** A new folder that belongs to the account, in the first place for such folders that it can reach. */
export async function temporaryFolder(prefix: string, account?: Account, wanted = tmpdir()): Promise<string> {
  for (const place of new Set([wanted, tmpdir(), '/tmp', '/var/tmp'])) {
    const folder = await mkdtemp(join(place, prefix))
    if (!account) return folder
    await chown(folder, account.uid, account.gid)
    if (await canRun(account, 'cd "$1"', folder)) return folder
    await rm(folder, { recursive: true })
  }
  throw new RollcallError('EMBEDDED_FAILED', ['no temporary folder that an unprivileged user can reach'])
}

/** Whether a line of shell, with its `$1`, succeeds for that account. */
export async function canRun(account: Account, line: string, argument: string): Promise<boolean> {
  try {
    await runProgram('/bin/sh', ['-c', line, 'sh', argument], { ...account, cwd: '/' })
    return true
  } catch {
    return false
  }
}
