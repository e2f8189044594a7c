import process from 'node:process'

/** The measurements are in docs/performance.md, under "Memory and idling". */
const FLAGS = ['--max-semi-space-size=8', '--heap-growing-percent=60']

/**
 * Starts Node again in this process, with a heap for commands that run for long and hold little at a time: V8 would
 * rather take new memory than look for free memory, and reads these options only at its start. The process id stays.
 * Options of the user come last, so they win. Windows cannot replace a process, and one with an IPC channel would lose it.
 */
export function restartWithSmallHeap(): void {
  if (process.platform === 'win32' || process.connected || process.execArgv.includes(FLAGS[0] ?? '')) return
  const args = [process.execPath, ...FLAGS, ...process.execArgv, ...process.argv.slice(1)]
  process.execve?.(process.execPath, args)
}
