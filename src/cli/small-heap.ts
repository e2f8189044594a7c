import { setFlagsFromString } from 'node:v8'

/**
 * For commands that page through all customers, called before they begin: they hold little at a time, however many
 * customers there are. But V8 would rather take new memory than look for free memory. It reads these two at run time,
 * each time that it sizes its heap: the space for new objects stays as small as at the start. The rest grows by
 * little more than half before it is searched. A heap that does need more still gets it, up to Node's own limit.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString('--heap-growing-percent=60')
}
