import { expect, onTestFinished, test } from 'vitest'
import { openQueue } from '../../src/dispatch/bullmq.ts'
import type { Processed } from '../../src/dispatch/queue.ts'
import { freshDatabase } from '../support/database.ts'
import { eachLane } from '../support/lanes.ts'
import { until } from '../support/until.ts'

const onError = () => undefined
const NAME = 'sync-of-a-test'

async function openProcess(queueUrl: string, tick: () => Promise<Processed>, everyMs = 100) {
  const queue = await openQueue({ queueUrl, name: NAME, onError })
  const ticks = await queue.ticks(tick, { everyMs })
  const close = async () => {
    await ticks.close(2000)
    await queue.close()
  }
  return { queue, ticks, [Symbol.asyncDispose]: close }
}

eachLane('the schedule of ticks', (lane) => {
  test('goes on after a tick that failed, stays apart from the syncs, and comes back when the queue lost it', async () => {
    await using db = await freshDatabase()
    const queueUrl = await lane.queueUrl(db)
    const ticked: number[] = []
    const tick = async (): Promise<Processed> => {
      ticked.push(Date.now())
      if (ticked.length === 3) throw new Error('a value of somebody')
      return { failed: null }
    }
    await using one = await openProcess(queueUrl, tick)
    await using _two = await openProcess(queueUrl, tick)
    await until(() => ticked.length >= 8)
    // Its jobs are not among those of the customers.
    expect(await one.queue.count()).toBe(0)

    await lane.lose(queueUrl)
    const before = ticked.length
    await until(async () => {
      await one.ticks.tend()
      return ticked.length > before + 3
    })
  })

  test('takes on another interval, and stops when the last process has ended', async () => {
    await using db = await freshDatabase()
    const queueUrl = await lane.queueUrl(db)
    const ticked: number[] = []
    const tick = async (): Promise<Processed> => {
      ticked.push(Date.now())
      return { failed: null }
    }
    {
      await using _slow = await openProcess(queueUrl, tick, 3_600_000)
      await until(() => ticked.length === 1)
    }
    {
      await using _fast = await openProcess(queueUrl, tick, 50)
      await until(() => ticked.length >= 4)
    }
    const ended = ticked.length
    let later = 0
    const countLater = async (): Promise<Processed> => {
      later++
      return { failed: null }
    }
    await using _again = await openProcess(queueUrl, countLater, 50)
    onTestFinished(() => expect(ticked).toHaveLength(ended))
    await until(() => later >= 3)
  })
})
