import { setFlagsFromString } from 'node:v8'

/**
 * For commands that page through everybody, called before they begin: what they hold at a time is small, however many
 * customers there are, but V8 would rather take new memory than look for what is free. It reads these two at run time,
 * each time that it sizes its heap: the space for what is new stays as small as it was at the start, and the rest grows
 * by little more than half before it is searched. A heap that does need more still gets it, up to Node's own limit.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString('--heap-growing-percent=60')
}
