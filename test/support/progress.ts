// Progress while a test waits: requests that reach a service of this process, steps of a worker, output of a child. A
// wait that fails only when nothing moves any more needs no limit that a slow machine could pass.
import { subscribe } from 'node:diagnostics_channel'

let steps = 0

/** Something has happened in the story under way. */
export function moved(): void {
  steps += 1
}

/** How often something has happened so far. */
export function progress(): number {
  return steps
}

subscribe('http.server.request.start', moved)
