import { expect, onTestFinished, test } from 'vitest'
import { openQueue } from '../../src/dispatch/bullmq.ts'
import type { Processed } from '../../src/dispatch/queue.ts'
import { freshDatabase } from '../support/database.ts'
import { eachLane } from '../support/lanes.ts'
import { until } from '../support/until.ts'

const onError = () => undefined
const NAME = 'sync-of-a-test'

async function openProcess(queueUrl: string, step: () => Promise<Processed>, everyMs = 100) {
  const queue = await openQueue({ queueUrl, name: NAME, onError })
  const schedule = await queue.schedule(step, { everyMs })
  const close = async () => {
    await schedule.close(2000)
    await queue.close()
  }
  return { queue, schedule, [Symbol.asyncDispose]: close }
}

eachLane('the schedule of checks', (lane) => {
  test('goes on after a run that failed, stays apart from the syncs, and comes back when the queue lost it', async () => {
    await using db = await freshDatabase()
    const queueUrl = await lane.queueUrl(db)
    const runs: number[] = []
    const step = async (): Promise<Processed> => {
      runs.push(Date.now())
      if (runs.length === 3) throw new Error('a value of a customer')
      return { failed: null }
    }
    await using one = await openProcess(queueUrl, step)
    await using _two = await openProcess(queueUrl, step)
    await until(() => runs.length >= 8)
    // Its jobs are not among those of the customers.
    expect(await one.queue.count()).toBe(0)

    await lane.lose(queueUrl)
    const before = runs.length
    await until(async () => {
      await one.schedule.restore()
      return runs.length > before + 3
    })
  })

  test('takes on another interval, and stops when the last process has ended', async () => {
    await using db = await freshDatabase()
    const queueUrl = await lane.queueUrl(db)
    const runs: number[] = []
    const step = async (): Promise<Processed> => {
      runs.push(Date.now())
      return { failed: null }
    }
    {
      await using _slow = await openProcess(queueUrl, step, 3_600_000)
      await until(() => runs.length === 1)
    }
    {
      await using _fast = await openProcess(queueUrl, step, 50)
      await until(() => runs.length >= 4)
    }
    const ended = runs.length
    let later = 0
    const countLater = async (): Promise<Processed> => {
      later++
      return { failed: null }
    }
    await using _again = await openProcess(queueUrl, countLater, 50)
    onTestFinished(() => expect(runs).toHaveLength(ended))
    await until(() => later >= 3)
  })
})
