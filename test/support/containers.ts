// Servers in containers, where a Docker engine answers.
import { randomBytes } from 'node:crypto'
import type { StartedTestContainer } from 'testcontainers'
import { administer } from './administer.ts'
import { ping } from './redis.ts'
import type { Env, Kind, Note, Service } from './services.ts'
import { until } from './until.ts'

type Recipe = {
  readonly image: string
  readonly port: number
  readonly environment: Record<string, string>
  readonly command: string[]
  readonly url: (address: string) => string
  readonly answers: (url: string) => Promise<unknown>
}

/** Docker publishes a port on every interface of the machine. */
const PASSWORD = randomBytes(18).toString('base64url')

const postgres = (env: Env): Recipe => ({
  image: env.TEST_POSTGRES_IMAGE ?? 'postgres:18-alpine',
  port: 5432,
  environment: { POSTGRES_PASSWORD: PASSWORD },
  command: ['postgres', '-c', 'fsync=off', '-c', 'full_page_writes=off', '-c', 'max_connections=300'],
  url: (address) => `postgres://postgres:${PASSWORD}@${address}/postgres`,
  answers: (url) => administer(url, 'SELECT 1'),
})

const redis = (env: Env): Recipe => ({
  image: env.TEST_REDIS_IMAGE ?? 'redis:8-alpine',
  port: 6379,
  environment: {},
  command: [
    ...'redis-server --maxmemory-policy noeviction --databases 512 --requirepass'.split(' '),
    PASSWORD,
    '--save',
    '',
  ],
  url: (address) => `redis://:${PASSWORD}@${address}`,
  answers: ping,
})

/** An image that cannot be had is a reason for the next source, not for giving up. */
export async function inContainers(kind: Kind, env: Env, note: Note): Promise<Service | undefined> {
  if (!(await engineAnswers(3_000))) {
    if (env.TEST_SERVICES === 'containers') note('no Docker engine answers')
    return undefined
  }
  const recipe = kind === 'postgres' ? postgres(env) : redis(env)
  try {
    return await start(recipe)
  } catch (error) {
    const why = error instanceof Error ? error.message.split('\n')[0] : String(error)
    note(`no ${kind} in a container of ${recipe.image}: ${why}`)
    return undefined
  }
}

async function engineAnswers(withinMs: number): Promise<boolean> {
  const { getContainerRuntimeClient } = await import('testcontainers')
  const late = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => late.resolve(false), withinMs)
  // It rejects when none of the places where an engine can be has one.
  const answer = getContainerRuntimeClient().then(
    () => true,
    () => false,
  )
  return Promise.race([answer, late.promise]).finally(() => clearTimeout(timer))
}

async function start({ image, port, environment, command, url, answers }: Recipe): Promise<Service> {
  const { GenericContainer, Wait } = await import('testcontainers')
  const container = await new GenericContainer(image)
    .withExposedPorts(port)
    .withEnvironment(environment)
    .withCommand(command)
    .withWaitStrategy(Wait.forLogMessage(/ready to accept connections/i))
    .withStartupTimeout(60_000)
    .start()
  const service = serviceOf(container, url(`${container.getHost()}:${container.getMappedPort(port)}`))
  try {
    // Postgres says that it is ready once for its own setup and then again for everybody.
    await until(() => answers(service.url), { every: 100, what: `${image} answers` })
    return service
  } catch (error) {
    await service.stop()
    throw error
  }
}

const serviceOf = (container: StartedTestContainer, url: string): Service => ({
  url,
  stop: async () => {
    await container.stop()
  },
})
