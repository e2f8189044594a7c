import { expect, it } from 'vitest'
import { RollcallError } from '../../src/model/errors.ts'
import { whenUp } from '../../src/worker/waiting.ts'

/** Time passes only while a process sleeps. */
function scene(failures: readonly unknown[]) {
  const left = [...failures]
  const stop = new AbortController()
  const pauses: number[] = []
  const reported: { readonly at: number; readonly code: string }[] = []
  let time = 0
  const opened = whenUp(
    async () => {
      const failure = left.shift()
      if (failure !== undefined) throw failure
      return 'opened'
    },
    {
      stop: stop.signal,
      async sleep(ms) {
        pauses.push(ms)
        time += ms
      },
      now: () => time,
      tell: ({ code }) => reported.push({ at: time, code }),
    },
  )
  return { opened, pauses, reported, stop }
}

const down = new RollcallError('DATABASE_DOWN')
const queueDown = new RollcallError('QUEUE_DOWN')

it('waits with pauses that grow to ten seconds, and tells of each server every half minute at most', async () => {
  const { opened, pauses, reported } = scene([...Array(9).fill(down), queueDown, down])
  expect(await opened).toBe('opened')
  expect(pauses.slice(0, 7)).toEqual([500, 1000, 2000, 4000, 8000, 10_000, 10_000])
  expect(reported).toEqual([
    { at: 0, code: 'DATABASE_DOWN' },
    { at: 35_500, code: 'DATABASE_DOWN' },
    { at: 55_500, code: 'QUEUE_DOWN' },
    { at: 65_500, code: 'DATABASE_DOWN' },
  ])
})

it.each([
  ...(['DATABASE_REFUSED', 'QUEUE_REFUSED', 'QUEUE_UNFIT', 'TLS_FAILED'] as const),
  ...(['NOT_MIGRATED', 'TARGET_CHANGED'] as const),
])('does not wait for what does not pass by itself: %s', async (code) => {
  const { opened, pauses } = scene([down, new RollcallError(code)])
  await expect(opened).rejects.toMatchObject({ code })
  expect(pauses).toEqual([500])
})

it('does not take an error that it does not know for a server that is away', async () => {
  const strange = new Error('strange')
  await expect(scene([strange]).opened).rejects.toBe(strange)
})

it('ends without a word when it is told to stop, also if what it broke off fails', async () => {
  const { opened, stop } = scene([down, new Error('broken off')])
  stop.abort()
  expect(await opened).toBeNull()
})
