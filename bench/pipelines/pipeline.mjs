// A pipeline as an integrator would write it by hand, each as the documentation of its library recommends: a change of
// a customer becomes a job, the job reads the row and creates the user. None has a guarantee of rollcall's: no order, no
// pace, no answer that is understood, no record of what was sent.
// Run by throughput.ts: node pipeline.mjs NAME, with DATABASE_URL, REDIS_URL, SERVICE_URL and CONCURRENCY.
import http from 'node:http'
import process from 'node:process'
import got from 'got'
import pg from 'pg'

const { DATABASE_URL, REDIS_URL, SERVICE_URL, CONCURRENCY } = process.env
const concurrency = Number(CONCURRENCY)
const agent = { http: new http.Agent({ keepAlive: true, maxSockets: concurrency }) }
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 10 })

const sendRow = ({ id, plan, note, ...fields }) =>
  got.post(`${SERVICE_URL}/s2s/v1/users`, {
    agent,
    json: { ...fields, user_id: id, status: plan === 'premium' ? 2 : 0 },
  })

async function send(id) {
  const { rows } = await pool.query('SELECT * FROM customers WHERE id = $1', [id])
  await sendRow(rows[0])
}

const onChange = (body) =>
  pool.query(`
    CREATE FUNCTION by_hand() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body}; RETURN NULL; END $$;
    CREATE TRIGGER by_hand AFTER INSERT OR UPDATE ON customers FOR EACH ROW EXECUTE FUNCTION by_hand()`)

const PIPELINES = {
  /** A script over all customers, run once: it begins when there are rows. */
  async 'p-limit'() {
    const { default: pLimit } = await import('p-limit')
    const limit = pLimit(concurrency)
    let rows = []
    while (rows.length === 0) ({ rows } = await pool.query('SELECT * FROM customers'))
    await Promise.all(rows.map((row) => limit(() => sendRow(row))))
  },
  async 'graphile-worker'() {
    const { Logger, run, runMigrations } = await import('graphile-worker')
    const preset = {
      worker: {
        connectionString: DATABASE_URL,
        concurrentJobs: concurrency,
        maxPoolSize: 10,
        localQueue: { size: concurrency + 1 },
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
      },
    }
    await runMigrations({ preset })
    await onChange(
      `PERFORM graphile_worker.add_job('send', json_build_object('id', NEW.id), job_key := NEW.id)`,
    )
    const logger = new Logger(() => () => undefined)
    await run({ preset: { worker: { ...preset.worker, logger } }, taskList: { send: ({ id }) => send(id) } })
  },
  async 'pg-boss'() {
    const { PgBoss } = await import('pg-boss')
    const boss = new PgBoss(DATABASE_URL)
    boss.on('error', () => undefined)
    await boss.start()
    await boss.createQueue('send')
    await onChange(`INSERT INTO pgboss.job (name, data) VALUES ('send', json_build_object('id', NEW.id))`)
    await boss.work('send', { batchSize: concurrency, pollingIntervalSeconds: 0.5 }, (jobs) =>
      Promise.all(jobs.map(({ data }) => send(data.id))),
    )
  },
  /** An outbox, a relay that moves it to Redis, and a worker. */
  async bullmq() {
    const { Queue, Worker } = await import('bullmq')
    const connection = { url: REDIS_URL, maxRetriesPerRequest: null }
    const queue = new Queue('send', {
      connection,
      defaultJobOptions: { removeOnComplete: true, attempts: 5 },
    })
    await pool.query('CREATE TABLE outbox (id bigserial PRIMARY KEY, key text NOT NULL)')
    await onChange('INSERT INTO outbox (key) VALUES (NEW.id)')
    const worker = new Worker('send', ({ data }) => send(data.id), { connection, concurrency })
    await worker.waitUntilReady()
    const relay = async () => {
      const client = await pool.connect()
      await client.query('BEGIN')
      const { rows } = await client.query(
        'DELETE FROM outbox WHERE id IN (SELECT id FROM outbox ORDER BY id LIMIT 500 FOR UPDATE SKIP LOCKED) RETURNING key',
      )
      if (rows.length > 0) await queue.addBulk(rows.map(({ key: id }) => ({ name: 'send', data: { id } })))
      await client.query('COMMIT')
      client.release()
      setTimeout(relay, rows.length > 0 ? 0 : 50)
    }
    await relay()
  },
}

process.on('disconnect', () => process.exit())
const running = PIPELINES[process.argv[2]]()
if (process.argv[2] !== 'p-limit') await running
process.send('ready')
