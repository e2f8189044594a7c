import { expect, it } from 'vitest'
import { makeCallSlots } from '../../src/pace/call-slots.ts'

const never = new AbortController().signal

it('lets so many calls be under way, and who waits in the order of asking', async () => {
  const slots = makeCallSlots(2)
  const taken: string[] = []
  const take = (name: string, signal = never) => slots.take(signal).then(() => void taken.push(name))
  await Promise.all([take('a'), take('b')])
  const others = [take('c'), take('d')]
  await new Promise(setImmediate)
  expect(taken).toEqual(['a', 'b'])
  slots.giveBack()
  await others[0]
  expect(taken).toEqual(['a', 'b', 'c'])
  slots.giveBack()
  await others[1]
  expect(taken).toEqual(['a', 'b', 'c', 'd'])
})

it('forgets who waits no more', async () => {
  const slots = makeCallSlots(1)
  await slots.take(never)
  const leaving = new AbortController()
  const left = slots.take(leaving.signal)
  const next = slots.take(never)
  leaving.abort(new Error('over'))
  await expect(left).rejects.toThrow('over')
  slots.giveBack()
  await next
  await expect(slots.take(leaving.signal)).rejects.toThrow('over')
})
