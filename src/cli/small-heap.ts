import process from 'node:process'

/** Small, for commands that hold little at a time. The measurements are in docs/performance.md, under "Memory and idling". */
const FLAGS = ['--max-semi-space-size=8', '--heap-growing-percent=40']
/** Each thread of Node would take an arena of its own, which glibc does not give back. */
const ONE_ARENA = { MALLOC_ARENA_MAX: '1' }

/**
 * Starts Node again in this process, whose id stays: V8 reads these options only at its start. Options of the user's
 * command line win, and so does the environment. Not on Windows, not with an IPC channel (it would be lost), not where Node's permissions forbid it.
 */
export function restartWithSmallHeap(): void {
  const { platform, permission, execPath, execArgv } = process
  if (platform === 'win32' || process.connected || permission?.has('child') === false) return
  if (execArgv.includes(FLAGS[0] ?? '')) return
  process.execve?.(execPath, [execPath, ...FLAGS, ...execArgv, ...process.argv.slice(1)], {
    ...ONE_ARENA,
    ...process.env,
  })
}
