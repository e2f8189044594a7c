// Every kind of service, with three of ten calls failing in every way while its customers change. DELIVERY_SEED and
// DELIVERY_RUNS (how many seeds from there on, each in both lanes) make longer runs.
import { expect, test } from 'vitest'
import { eachLane, lanes } from '../support/lanes.ts'
import { MIXED } from '../support/presets.ts'
import { type Fire, openOdd, openPreset, survive } from '../support/under-fire.ts'

const FIRST = Number(process.env.DELIVERY_SEED ?? 1)
const RUNS = Number(process.env.DELIVERY_RUNS ?? 0)
const SEEDS = Array.from({ length: Math.max(1, RUNS) }, (_, at) => FIRST + at)

async function expectRight(open: (seed: number) => Promise<Fire>): Promise<void> {
  for (const seed of SEEDS) {
    await using fire = await open(seed)
    const problems = await survive(fire, seed).catch((error: Error) => error.message)
    expect(problems, `DELIVERY_SEED=${seed}, ${fire.name}`).toBe('')
  }
}

const both = RUNS > 0 || lanes.some(({ available }) => !available)

eachLane('every customer is right, every write explained, no two claims live', (lane) => {
  const mine = Object.entries(MIXED).filter((_, at) => both || lanes[at % lanes.length] === lane)
  test.each(mine)('at a service of the kind %s', (name, contract) =>
    expectRight((seed) => openPreset(lane, { name, contract }, seed)),
  )
  test('at a service whose answers no preset gives', () => expectRight((seed) => openOdd(lane, seed)))
})
