import { expect, test } from 'vitest'
import type { SweepingOptions } from '../../src/sweep/run.ts'
import { makeSweeping } from '../../src/worker/sweeping.ts'
import { until } from '../support/until.ts'
import { openScene } from '../sweep/scene.ts'

type Said = { readonly level: string; readonly text: string; readonly about: object }

function worker({ pool, config, digester, signal }: SweepingOptions) {
  const said: Said[] = []
  const at = (level: string) => (about: object | string, text?: string) =>
    void said.push(
      typeof about === 'string' ? { level, text: about, about: {} } : { level, text: text ?? '', about },
    )
  const log = { info: at('info'), warn: at('warn'), error: at('error') } as never
  return { said, step: makeSweeping({ pool, config, digester, signal, log }) }
}

const marks = `SELECT kind, resynced_at IS NOT NULL AS done FROM rollcall.capture_mark ORDER BY id`

test('capture is checked at once where its triggers are others than at the last check', async () => {
  await using scene = await openScene(5)
  await scene.run({ kind: 'check' })
  const { step } = worker(scene.options)
  await step()
  expect(await scene.sweeps()).toEqual(['check done'])
  // As a table that is put back with its triggers.
  await scene.pool.query(
    `ALTER TABLE clientes DISABLE TRIGGER USER; ALTER TABLE clientes ENABLE TRIGGER USER`,
  )
  await step()
  await step()
  expect(await scene.sweeps()).toEqual(['check done', 'check done'])
})

test('a gap is checked once its transactions have ended, by one worker, and new customers are brought in', async () => {
  await using scene = await openScene(5)
  const { pool } = scene
  await scene.run({ kind: 'check' }) // binds the mapping
  const writer = await pool.connect()
  await writer.query('BEGIN; SELECT pg_current_xact_id()')
  await pool.query(
    `INSERT INTO rollcall.capture_mark (kind, relation) VALUES ('overflow', 'public.clientes')`,
  )
  const workers = [worker(scene.options), worker(scene.options)]
  await Promise.all(workers.map(({ step }) => step()))
  expect(await scene.sweeps()).toEqual(['check done'])
  expect(workers[0]?.said).toMatchObject([
    { level: 'warn', text: expect.stringContaining('open transactions') },
  ])
  await writer.query(`SET LOCAL session_replication_role = replica`)
  await writer.query(`INSERT INTO clientes (id, plan) VALUES ('late', 'premium')`)
  await writer.query('COMMIT')
  writer.release()
  // The view shows all databases of the server, and other tests have transactions that last.
  await until(
    async () => {
      await Promise.all(workers.map(({ step }) => step()))
      return (await pool.query(marks)).rows[0]?.done
    },
    { every: 100, what: 'all transactions that were open have ended' },
  )
  await Promise.all(workers.map(({ step }) => step()))
  expect(await scene.sweeps()).toEqual(['check done', 'gap done'])
  expect(await scene.noted()).toMatchObject({ k001: 1, k005: 1, late: 1 })
  const said = workers
    .flatMap(({ said }) => said)
    .filter(({ text }) => text.includes('all customers were compared'))
  expect(said).toMatchObject([{ level: 'warn', about: { customers: 6, differ: 6 } }])
})

test('capture is checked when its time has come, and what was missed is said loudly', async () => {
  await using scene = await openScene(5)
  const { pool } = scene
  const { step, said } = worker(scene.options)
  await scene.run()
  const later = () => pool.query(`UPDATE rollcall.run SET ended_at = ended_at - interval '25 hours'`)
  await step()
  expect(said).toEqual([])
  await later()
  await step()
  await step()
  expect(said).toMatchObject([{ level: 'info', text: expect.stringContaining('missed no change') }])
  said.length = 0
  // The clock was set back since.
  await pool.query(`UPDATE rollcall.run SET ended_at = ended_at + interval '1 year'`)
  await pool.query(`UPDATE rollcall.generation SET applied_at = applied_at + interval '1 year'`)
  await step()
  await step()
  expect(said).toMatchObject([{ level: 'info', text: expect.stringContaining('missed no change') }])
  await later()
  await pool.query('ALTER TABLE clientes DISABLE TRIGGER ALL')
  await pool.query(
    `INSERT INTO clientes (id, plan) SELECT 'new' || i, 'premium' FROM generate_series(1, 3) i`,
  )
  await step()
  // It does not rely on a capture that is known to be off; the housekeeping tells of that.
  expect(said).toHaveLength(1)
  await pool.query('ALTER TABLE clientes ENABLE TRIGGER ALL')
  // While a person has to decide about a TRUNCATE, it would find all customers.
  await pool.query(
    `INSERT INTO rollcall.capture_mark (kind, relation) VALUES ('truncate', 'public.clientes')`,
  )
  await step()
  expect(said).toHaveLength(1)
  await pool.query('UPDATE rollcall.capture_mark SET resolved_at = now(), resynced_at = now()')
  await step()
  expect(said.slice(1)).toMatchObject([
    {
      level: 'error',
      text: expect.stringContaining('capture has missed changes'),
      about: { missed: { inserted: 3, changed: 0, deleted: 0 }, examples: ['new1', 'new2', 'new3'] },
    },
  ])
  expect(JSON.stringify(said)).not.toContain('premium')
})

test('a check that was due in the midst of another process’ sweep is not made twice', async () => {
  await using scene = await openScene(6)
  const { pool } = scene
  await scene.run({ kind: 'check' })
  await pool.query(`UPDATE rollcall.run SET ended_at = ended_at - interval '25 hours'`)
  const workers = [worker(scene.options), worker(scene.options), worker(scene.options)]
  await Promise.all(workers.map(({ step }) => step()))
  await Promise.all(workers.map(({ step }) => step()))
  expect(await scene.sweeps()).toEqual(['check done', 'check done'])
  expect(workers.flatMap(({ said }) => said)).toHaveLength(1)
})
