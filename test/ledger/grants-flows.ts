// Each flow is small enough that one refused right makes it fail.
import type { Pool } from 'pg'
import { pino } from 'pino'
import { discard, release } from '../../src/brake/held.ts'
import { listDecisions, listHeld, readBrake } from '../../src/brake/list.ts'
import { makeBrake } from '../../src/brake/reserve.ts'
import { collapseOutbox } from '../../src/capture/collapse.ts'
import { drainOutbox } from '../../src/capture/outbox.ts'
import { main } from '../../src/cli/main.ts'
import { openQueue } from '../../src/dispatch/bullmq.ts'
import { drawSample, isSampleDue, readEvidence, setCredible, writeSample } from '../../src/drift/evidence.ts'
import { countOpen, pruneFindings, readOpenFound } from '../../src/drift/found.ts'
import { dueChecks } from '../../src/drift/open-findings.ts'
import { oweRepairs } from '../../src/drift/repair.ts'
import { beginDrift, endDrift, keepDrift, readPast } from '../../src/drift/runs.ts'
import { storeChecks } from '../../src/drift/store.ts'
import { pruneCalls, writeCalls } from '../../src/ledger/calls.ts'
import { claimChecks } from '../../src/ledger/check.ts'
import { makeStoreEnding } from '../../src/ledger/ending.ts'
import { readErasures } from '../../src/ledger/erasures.ts'
import { applyGeneration, markSwept } from '../../src/ledger/generation.ts'
import { makeNoting } from '../../src/ledger/note.ts'
import { NO_RECORD } from '../../src/ledger/record.ts'
import { installationName, readBinding, voidBinding } from '../../src/ledger/target.ts'
import { readPace } from '../../src/pace/read.ts'
import { setCeiling } from '../../src/pace/row.ts'
import { makeDigester } from '../../src/sync/digest.ts'
import { userIdFor } from '../../src/sync/map.ts'
import type { Snapshot } from '../../src/sync/snapshot.ts'
import { makeHousekeeping } from '../../src/worker/housekeeping.ts'
import { openSync, type Secrets } from '../../src/worker/open-sync.ts'
import { makeSweeping } from '../../src/worker/sweeping.ts'
import { endingOf } from '../support/ending.ts'
import { type House, SECRETS } from '../support/house.ts'
import { until } from '../support/until.ts'
import { type Granted, postgresLane } from './grants-scene.ts'

export type FlowSession = {
  readonly role: Granted
  readonly pool: Pool
  readonly house: House
  readonly folder: string
}

/** Tells what a person would see; an error is printed, too. */
export type Flow = (session: FlowSession, tell: (text: string) => void) => Promise<unknown>

const secretsOf = ({ house, role: { url } }: Pick<FlowSession, 'house' | 'role'>) =>
  ({ ...house.env, DATABASE_URL: url, QUEUE_URL: url }) as unknown as Secrets

const command =
  (...args: readonly string[]): Flow =>
  async ({ house, role, folder }, tell) => {
    const io = { out: tell, err: tell, env: { ...secretsOf({ house, role }) }, cwd: folder, terminal: false }
    await main(args, { ...io, stop: new AbortController().signal })
  }

/** One customer waits for a person, because of a kind that has tripped. */
async function hold({ house }: FlowSession, key: string): Promise<void> {
  await house.sql(
    `UPDATE rollcall.ledger SET state = 'idle';
     INSERT INTO rollcall.owed (key, change_version, lane) VALUES ('${key}', 1, 1)
     ON CONFLICT (key) DO UPDATE SET due_at = NULL, token = NULL, call_token = NULL;
     INSERT INTO rollcall.ledger (key, state, reason, desired) VALUES ('${key}', 'held', '{"code": "held", "kinds": ["revocation"]}', 'd')
     ON CONFLICT (key) DO UPDATE SET state = excluded.state, reason = excluded.reason, desired = excluded.desired;
     INSERT INTO rollcall.brake (kind, tripped_at) VALUES ('revocation', now())
     ON CONFLICT (kind) DO UPDATE SET tripped_at = excluded.tripped_at;
     DELETE FROM rollcall.decided`,
  )
}

const captured = ({ house }: FlowSession, key: string) =>
  house.sql(`INSERT INTO rollcall.outbox (key, lane) VALUES ('${key}', 1), ('${key}', 0)`)

export const WORKER_FLOWS: Readonly<Record<string, Flow>> = {
  'a worker opens on a new ledger': async ({ house, role }) => {
    await house.sql('DELETE FROM rollcall.generation')
    const opened = await openSync({
      config: house.config,
      env: secretsOf({ house, role }),
      onPoolError: () => undefined,
    })
    await opened.close()
  },
  'what is captured is noted': async (session) => {
    const { pool, house } = session
    await captured(session, 'k1')
    await drainOutbox(
      pool,
      makeNoting((key) => userIdFor(house.config, key)),
      10,
    )
  },
  sync: command('sync', 'k1'),
  access: command('access', 'k1'),
  'somebody is erased': async ({ pool, house }) => {
    await house.sql(
      `INSERT INTO rollcall.owed (key, change_version, lane) VALUES ('k3', 1, 1) ON CONFLICT DO NOTHING;
       UPDATE rollcall.owed SET token = 7, call_token = 7 WHERE key = 'k3'`,
    )
    const { rows } = await house.sql(`SELECT id::text FROM rollcall.owed WHERE key = 'k3'`)
    const erasure = { cleared: ['email' as const], left: null }
    await makeStoreEnding(pool, 0)(endingOf(rows[0].id, { claim: { key: 'k3', version: '1' }, erasure }))
  },
  'calls are written down': ({ pool }) =>
    writeCalls(pool, [{ ...CALL, atMs: Date.now() }], { by: 'test', again: true }),
  'old calls go': ({ pool }) => pruneCalls(pool, 14, 10),
  'a large outbox is collapsed, and its pages go': async (session, tell) => {
    await captured(session, 'k2')
    const client = await session.pool.connect()
    client.on('notice', ({ message }) => tell(message ?? ''))
    await collapseOutbox(client).finally(() => client.release())
  },
  housekeeping: async ({ pool, house }) => {
    const housekeep = makeHousekeeping({
      ...{ pool, config: house.config, log: pino({ level: 'silent' }), now: () => performance.now() },
      binding: (await readBinding(pool)) ?? '',
    })
    await housekeep()
  },
  'a mapping is applied': async ({ pool, house }) => {
    await applyGeneration(pool, 'another')
    await markSwept(pool, '2')
    await applyGeneration(pool, house.config.fingerprint)
  },
  backfill: command('backfill', '--mapping'),
  resync: command('capture', 'resync'),
  'a gap in capture is closed': async ({ pool, house }) => {
    await house.sql(
      `INSERT INTO rollcall.capture_mark (kind, relation) VALUES ('overflow', 'public.clientes')`,
    )
    const sweep = makeSweeping({
      ...{ pool, config: house.config, log: pino({ level: 'silent' }) },
      digester: makeDigester(SECRETS.ROLLCALL_DIGEST_KEY),
      signal: new AbortController().signal,
    })
    await sweep()
  },
  status: command('status'),
  failures: command('failures', '--retry', '--all'),
  answers: command('answers', '--forget'),
  'the brake is asked': async ({ pool, house }) => {
    await house.sql('DELETE FROM rollcall.brake')
    const brake = makeBrake(pool, house.config.brake)
    await brake({ key: 'k1', desiredDigest: 'd', kinds: ['revocation'] })
  },
  'those who are held are released': async (session) => {
    await hold(session, 'k1')
    await release(session.pool, { kind: 'revocation', by: 'test', why: 'test' })
  },
  'those who are held are discarded': async (session) => {
    await hold(session, 'k2')
    await discard(session.pool, { keys: ['k2'], by: 'test', why: 'test' })
    await listDecisions(session.pool, 1)
  },
  'the ceiling is set': ({ pool }) => setCeiling(pool, 100),
  'what is found is stored': async ({ pool, house }) => {
    const { fingerprint, timing } = house.config
    const work = { record: NO_RECORD }
    const mapped = { kind: 'removed', userId: 'u' }
    const known = { key: 'checked', mapped, work, desiredDigest: 'd', digests: { keyId: 'k' } }
    const snapshot = known as unknown as Snapshot
    const options = { ...timing, consistencyDelayMs: 0, fingerprint, repairsLater: false }
    // Suspected, found, ended; suspected, and forgotten.
    for (const verdict of [MISSING, MISSING, AGREES, MISSING, AGREES]) {
      if (await isSampleDue(pool, ['checked'])) {
        const { at } = await drawSample(pool, 1)
        await writeSample(pool, at, { asked: 1, strange: 0, wanted: 1 })
      }
      const token = (await claimChecks(pool, ['checked'], { lastsMs: 1, fingerprint })).get('checked') ?? null
      await storeChecks(pool, [{ snapshot, verdict, observed: 'unreadable', token }], options)
    }
    await readEvidence(pool)
    await setCredible(pool, { by: 'test', why: 'test' })
    await pruneFindings(pool, 1, 1)
  },
  'a run is kept': async ({ pool }) => {
    const asked = { options: { sample: null, where: null, repair: false }, generation: '1' }
    const run = await beginDrift(pool, asked, { seed: 's', population: 1 })
    await keepDrift(pool, run, { nowMs: 0, fingerprint: 'f' })
    await endDrift(pool, run, true)
  },
  'a repair is owed, or waits': async ({ pool, house }) => {
    const found = { id: '1', key: 'k1', desiredDigest: 'd', fields: [], access: null }
    const lag = house.config.timing
    await oweRepairs({ pool, lag, brake: async () => [] }, [found])
    await oweRepairs({ pool, lag, brake: async () => ['repair'] }, [found])
    await dueChecks(pool, 1)
  },
  'receipts are read': ({ pool }) => readErasures(pool, { keys: [], limit: 1 }),
  'the database went back in time': async ({ pool }) => {
    const client = await pool.connect()
    try {
      await client.query('BEGIN')
      await voidBinding(client, '0')
    } finally {
      await client.query('ROLLBACK')
      client.release()
    }
  },
  queue: async ({ house, role }, tell) => {
    await postgresLane.lose(house.queueUrl)
    const name = await installationName(house.db.pool)
    const queue = await openQueue({ queueUrl: role.url, name, onError: ({ message }) => tell(message) })
    try {
      const consumer = await queue.consume(async () => undefined, { concurrency: 1 })
      await queue.add([[{ id: '1', token: '1', lane: 1 }]])
      // Worked on and put away, which is more than having been handed out.
      await until(async () => (await queue.count()) === 0, { patience: 6000 }).catch(() => tell('not done'))
      await consumer.close(500)
    } finally {
      await queue.close()
    }
  },
}

export const READER_FLOWS: Readonly<Record<string, Flow>> = {
  status: command('status'),
  failures: command('failures'),
  'a history': command('failures', 'k1'),
  answers: command('answers'),
  'who is held': async ({ pool }) => {
    await readBrake(pool)
    await listHeld(pool, { limit: 1 })
    await listDecisions(pool, 1)
  },
  pace: ({ pool }) => readPace(pool),
  erasures: ({ pool }) => readErasures(pool, { keys: [], limit: 1 }),
  findings: async ({ pool }) => {
    await countOpen(pool)
    await readOpenFound(pool)
    await readEvidence(pool)
    await readPast(pool, null)
  },
}

const MISSING = { kind: 'missing', fields: [], cause: 'never-delivered', access: 'lost' } as const
const AGREES = { kind: 'agrees' } as const
const CALL = {
  ...{ key: 'k1', plan: 'create', method: 'POST', status: 200, error: null, meaning: 'done', ms: 1 },
  ...{ fields: [], body: null, shape: null },
}
