import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makePool } from '../../src/database/pool.ts'
import { type Flow, READER_FLOWS, WORKER_FLOWS } from './grants-flows.ts'
import { type Granted, type GrantsScene, openScene } from './grants-scene.ts'

let scene: GrantsScene
let folder: string
let pools: Readonly<Record<'worker' | 'reader', Pool>>
beforeAll(async () => {
  scene = await openScene()
  const poolOf = ({ url }: Granted) => makePool({ url, max: 4, onError: () => undefined })
  pools = { worker: poolOf(scene.worker), reader: poolOf(scene.reader) }
  folder = await mkdtemp(join(tmpdir(), 'rollcall-grants-'))
  await writeFile(
    join(folder, 'rollcall.config.js'),
    `export default ${JSON.stringify(scene.house.authored)}`,
  )
})
afterAll(async () => {
  await Promise.all([pools.worker.end(), pools.reader.end()])
  await scene[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

/** In whatever words; a job is never done where its queue refuses it to the consumer alone. */
const DENIED = /permission denied|42501|may not SELECT|has no USAGE|not done/

async function reported(role: Granted, flow: Flow): Promise<string> {
  const lines: string[] = []
  const pool = pools[role === scene.worker ? 'worker' : 'reader']
  const session = { role, pool, house: scene.house, folder }
  await flow(session, (line) => lines.push(line)).catch((error: Error & { details?: string[] }) =>
    lines.push(error.message, ...(error.details ?? [])),
  )
  return lines.join('\n')
}

async function firstRefused(role: Granted, flows: readonly Flow[]): Promise<Flow | undefined> {
  for (const flow of flows) if (DENIED.test(await reported(role, flow))) return flow
  return undefined
}

/** Each right by itself, as it stands in a GRANT without the role. */
function rightsIn(text: string): readonly string[] {
  return [...text.matchAll(/^GRANT (.+) ON (.+) TO [^;]+;$/gm)].flatMap(([, what = '', where = '']) => {
    const columns = /^SELECT \((.+)\)$/.exec(what)?.[1]?.split(', ')
    const rights = columns?.map((column) => `SELECT (${column})`) ?? what.split(', ')
    return rights.map((right) => `${right} ON ${where}`)
  })
}

describe.each([
  ['worker', WORKER_FLOWS, 50],
  ['reader', READER_FLOWS, 15],
] as const)('the role of the %s', (which, flows, least) => {
  test.each(Object.entries(flows))('its rights suffice: %s', async (_name, flow) => {
    const text = await reported(scene[which], flow)
    expect(text).not.toMatch(DENIED)
    expect(text).not.toMatch(/refused what|unexpectedly|ERROR/)
  })

  test('every right in its script is needed: without it something is refused', async () => {
    const role = scene[which]
    const rights = rightsIn(role.script)
    expect(rights.length).toBeGreaterThan(least)
    const unneeded: string[] = []
    // Rights to the same table stand beside each other, and what was refused one of them mostly is the next one too.
    let order: readonly Flow[] = Object.values(flows)
    for (const right of rights) {
      await scene.house.db.pool.query(`REVOKE ${right} FROM ${role.name}`)
      const refused = await firstRefused(role, order)
      if (refused) order = [refused, ...order.filter((flow) => flow !== refused)]
      else unneeded.push(right)
      await scene.house.db.pool.query(`GRANT ${right} TO ${role.name}`)
    }
    expect(unneeded).toEqual([])
  })
})
