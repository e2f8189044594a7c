import { createHook } from 'node:async_hooks'

export type Timers = Disposable & { count(): number }

/** Those that were begun since and run still: files that ran before in this process leave some that end at any time. */
export function countTimers(): Timers {
  const running = new Set<number>()
  const hook = createHook({
    init(id, type) {
      if (type === 'Timeout') running.add(id)
    },
    destroy(id) {
      running.delete(id)
    },
  }).enable()
  return { count: () => running.size, [Symbol.dispose]: () => void hook.disable() }
}
