import { expect, test } from 'vitest'
import { rollcall, runBare } from '../support/command.ts'
import { buildHouse, type House } from '../support/house.ts'
import { postgres as lane } from '../support/lanes.ts'

async function sync(house: House, key: string): Promise<number> {
  return (await rollcall(house, 'sync', key)).code
}

/** With no service, no keys, no queue and no configuration. */
const alone = ({ env }: House, ...args: readonly string[]) => runBare(env.DATABASE_URL ?? '', ...args)

test('a sync by hand stands in the history and among the answers, without a value', async () => {
  await using house = await buildHouse(lane)
  expect(await alone(house, 'answers')).toMatchObject({
    code: 0,
    output: expect.stringMatching(/^no answer /),
  })

  await house.sql(`INSERT INTO clientes (id, plan, correo) VALUES ('c1', 'premium', 'zoraida@example.org')`)
  expect(await sync(house, 'c1')).toBe(0)
  await house.sql(`UPDATE clientes SET correo = 'quintanilla@example.org' WHERE id = 'c1'`)
  expect(await sync(house, 'c1')).toBe(0)
  const served = house.calls().length

  const { code, output } = await alone(house, 'failures', 'c1')
  expect(code).toBe(0)
  expect(output).toMatch(/POST {3}201 .* create .* done .* sync \S+\/\d+\n {4}with {4}status, email\n/)
  expect(output).toMatch(/PATCH {2}200 .* patch .* done/)
  expect(output).toMatch(/changed {6}\d{4}-.*\n.*\n.*acknowledged \d{4}-.*\n.*verified {5}none is/)

  const json = JSON.parse((await alone(house, 'failures', '--json', 'c1')).output)
  expect(json).toMatchObject([
    { key: 'c1', history: { state: 'idle', calls: [{ method: 'POST' }, { method: 'PATCH' }] } },
  ])

  const seen = await alone(house, 'answers')
  expect(seen.code).toBe(0)
  expect(seen.output).toMatch(/POST .* 201 .* done +1$/m)
  expect(seen.output).toContain('for customer c1')
  expect(JSON.parse((await alone(house, 'answers', '--json')).output)).toMatchObject([
    { method: 'POST', status: 201, count: 1, lastKey: 'c1' },
    { method: 'PATCH', status: 200, count: 1 },
  ])
  for (const text of [output, seen.output]) expect(text).not.toMatch(/example\.org|zoraida|quintanilla/)

  expect((await alone(house, 'answers', '--forget')).output).toMatch(/^2 distinct answers are deleted/)
  expect(JSON.parse((await alone(house, 'answers', '--json')).output)).toEqual([])
  expect(house.calls()).toHaveLength(served)
})
