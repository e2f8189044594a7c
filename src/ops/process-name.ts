import { hostname } from 'node:os'
import { pid } from 'node:process'

/** Name of a process, where several work on the same tables: `worker web-1/4711`. */
export function processName(what: string): string {
  return `${what} ${hostname()}/${pid}`
}
