import { expect, it } from 'vitest'
import { runLoop } from '../../src/dispatch/loop.ts'

type Step = boolean | Error | { readonly tookMs: number; readonly busy: boolean }

/** Plays the steps one after the other; the waits between them, and the troubles reported. */
async function play(steps: readonly Step[], everyMs?: number) {
  const stop = new AbortController()
  const left = [...steps]
  const waits: number[] = []
  const troubles: (readonly [number, unknown])[] = []
  let time = 0
  await runLoop({
    async step() {
      const next = left.shift()
      if (next instanceof Error) throw next
      if (typeof next !== 'object') return next ?? false
      time += next.tookMs
      return next.busy
    },
    async sleep(ms, signal) {
      expect(signal).toBe(stop.signal)
      waits.push(Math.round(ms))
      time += ms
      if (left.length === 0) stop.abort()
    },
    now: () => time,
    signal: stop.signal,
    ...(everyMs === undefined ? {} : { everyMs }),
    onTrouble: (failures, error) => troubles.push([failures, error]),
  })
  return { waits, troubles }
}

it('goes on at once while there is work', async () => {
  expect((await play([true, true, true])).waits).toEqual([10, 10, 10])
})

it('asks ever more slowly while there is none, and is back at once when there is', async () => {
  const { waits } = await play([false, false, false, false, false, false, false, false, true, false])
  expect(waits).toEqual([40, 48, 58, 69, 83, 100, 100, 100, 10, 10])
})

it('looks often for two seconds after there was work', async () => {
  const { waits } = await play([true, ...Array.from({ length: 210 }, () => false)])
  const often = waits.filter((ms) => ms === 10)
  expect(waits.slice(0, often.length + 1)).toEqual([...often, 40])
  expect(often.length).toBe(2000 / 10)
})

it('waits longer after each failure in a row, tells how many, and when it works again', async () => {
  const errors = Array.from({ length: 7 }, (_, n) => new Error(`down ${n}`))
  const { waits, troubles } = await play([...errors, true, false])
  expect(waits).toEqual([500, 1000, 2000, 4000, 5000, 5000, 5000, 10, 10])
  expect(troubles).toEqual([...errors.map((error, n) => [n + 1, error]), [0, null]])
})

it('keeps to the time that was asked for between steps, and is back soon after a failure', async () => {
  const { waits } = await play([true, false, new Error('down'), false, false], 1000)
  expect(waits).toEqual([1000, 1000, 500, 1000, 1000])
})

it('makes a step that has become slow less often, but not while there is work', async () => {
  const { waits } = await play([
    { tookMs: 300, busy: false },
    { tookMs: 9000, busy: false },
    { tookMs: 300, busy: true },
  ])
  expect(waits).toEqual([1200, 5000, 10])
})

it('makes no step once it is stopped', async () => {
  let steps = 0
  const options = { sleep: async () => undefined, now: () => 0, onTrouble: () => undefined }
  const step = async () => {
    steps++
    return true
  }
  await runLoop({ ...options, step, signal: AbortSignal.abort() })
  expect(steps).toBe(0)
})
