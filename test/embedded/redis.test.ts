import { delimiter } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { RollcallError } from '../../src/model/errors.ts'
import { connectRedis, databasesOf, ping } from '../support/redis.ts'
import { startRedis } from '../support/redis-server.ts'
import { until } from '../support/until.ts'
import { runs, startParent } from './processes.ts'

const installed = await startRedis().then(
  async (server) => {
    await server.stop()
    return true
  },
  (error) => {
    if (error instanceof RollcallError && error.code === 'EMBEDDED_UNAVAILABLE') return false
    throw error
  },
)

describe.skipIf(!installed)('with a redis-server on the PATH', () => {
  test('starts as BullMQ wants it, with a password', async () => {
    await using server = await startRedis({ databases: 40 })
    await using session = connectRedis(server.url)

    const policy = await session.redis.config('GET', 'maxmemory-policy')
    expect(JSON.stringify(policy)).toContain('noeviction')
    expect(await databasesOf(server.url)).toBe(40)
    await expect(ping(`redis://127.0.0.1:${server.port}`)).rejects.toThrow('NOAUTH')
  })

  test('comes back empty on the same port after a restart and after a kill', async () => {
    await using server = await startRedis()
    for (const end of [async () => undefined, server.kill]) {
      {
        await using session = connectRedis(server.url)
        await session.redis.set('a', 'b')
      }
      await end()
      await server.restart()
      await using session = connectRedis(server.url)
      expect(await session.redis.dbsize()).toBe(0)
    }
  })

  test('a parent that is killed leaves no server', async () => {
    const { child, told } = await startParent(['redis'])
    child.kill('SIGKILL')
    await until(() => !runs(told.pid), { what: 'the server is gone' })
  })
})

test('without one, says what is missing', async () => {
  const { PATH } = process.env
  onTestFinished(() => {
    process.env.PATH = PATH
  })
  process.env.PATH = `/nowhere${delimiter}`

  await expect(startRedis()).rejects.toMatchObject({ code: 'EMBEDDED_UNAVAILABLE' })
})
