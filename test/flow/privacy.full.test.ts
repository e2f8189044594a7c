// No field's value is anywhere but at the customers and at the service, and no key of a customer in Redis: searched for
// in everything that was ever written while customers came, changed and left, and the service told what it was sent.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { main } from '../../src/cli/main.ts'
import type { RollcallConfig } from '../../src/config/define.ts'
import { startEchoing, WAY_NAMES } from '../support/echoing.ts'
import { buildHouse, CONFIG, type House, SECRETS } from '../support/house.ts'
import { anyLane, eachLane, type QueueLane } from '../support/lanes.ts'
import { runRollcall } from '../support/process.ts'
import { findLeaks, type Places, watchRedis, watchTables } from '../support/secrets.ts'
import { until } from '../support/until.ts'

/** Stems of every value of every field that is long enough to be searched for; `ES` and `34` stand everywhere. */
const VALUES = [
  'zaquizami', // e-mail
  '48273915', // DNI
  'Zacarinda',
  'Quebrantahuesos',
  '1937-10-29',
  '65509381747261', // mobile phone
  'CoberturaInconfundible',
  'ContratoInconfundible',
  'notainconfundible',
  'grupoinconfundible',
  'medicoinconfundible',
  'planinconfundible', // a status that the mapping does not list
  'sexoinconfundible',
  'idiomainconfundible',
  'paisinconfundible',
  'internoinconfundible', // a column that nothing reads, or that makes a row unreadable
]
/** In every key; and in every `user_id`, which is a part of the key here, as it has to be. */
const FILE_KEY = 'fichaclave'
const USER_ID = 'usuarioclave'

const SQL = `
CREATE TABLE fichas (
  ficha text NOT NULL, usuario text NOT NULL, plan text NOT NULL,
  correo text, dni text, nombre text, apellidos text, sexo text, nacido date, movil text, prefijo text,
  cobertura text, contrato text, idioma text, notas text, pais text, grupo text, grupo_medico text,
  interno text, PRIMARY KEY (ficha, usuario));
-- Postgres tells what it could not read: the message quotes the value.
CREATE VIEW clientes AS SELECT ficha, usuario, plan, correo, dni, nombre, apellidos, sexo, nacido, movil, prefijo,
  cobertura, contrato, idioma, CASE WHEN interno LIKE 'internoinconfundible-ilegible%' THEN interno::int::text ELSE notas END AS notas,
  pais, grupo, grupo_medico FROM fichas`

const AUTHORED: Partial<RollcallConfig> = {
  customers: { view: 'public.clientes', key: ['ficha', 'usuario'] },
  watch: [{ table: 'public.fichas', key: ['ficha', 'usuario'] }],
  mapping: { ...CONFIG.mapping, user_id: 'usuario' },
  service: { timeoutMs: 600 },
}

/** One customer for each way in which the service tells what it was sent, and for each way of our own to go wrong. */
const OWN = ['plain', 'leaves', 'invalid', 'rejected', 'unreadable', 'shared'] as const
const NAMES = [...OWN, ...WAY_NAMES]
const userIdOf = (name: string) => `${USER_ID}.${name}.1`
const keyOf = (name: string, file = 'uno') =>
  JSON.stringify([`${FILE_KEY}-${file}`, userIdOf(name)]).replace(',', ', ')

async function fill({ db }: House): Promise<void> {
  await db.sql(
    `INSERT INTO fichas (ficha, usuario, plan, correo, dni, nombre, apellidos, sexo, nacido, movil, prefijo, cobertura,
       contrato, idioma, notas, pais, grupo, grupo_medico, interno)
     SELECT $1 || '-uno', $2 || '.' || name || '.1', 'premium', 'zaquizami.' || name || '@correo.example', '48273915C',
       'Zacarinda', 'Quebrantahuesos', 'm', '1937-10-29', '65509381747261', '34', 'CoberturaInconfundible',
       'ContratoInconfundible', 'es', 'notainconfundible', 'ES', 'grupoinconfundible', 'medicoinconfundible',
       'internoinconfundible' FROM unnest($3::text[]) name`,
    [FILE_KEY, USER_ID, NAMES],
  )
  await db.sql(
    `INSERT INTO fichas (ficha, usuario, plan, nombre) SELECT ficha || '-otra', usuario, 'free', 'Zacarinda' FROM fichas
     WHERE usuario LIKE '%.shared.%'`,
  )
  await db.sql(`
    UPDATE fichas SET correo = 'zaquizami(no-es-correo', dni = '48273915X', sexo = 'sexoinconfundible',
      movil = 'movil 65509381747261 x', idioma = 'idiomainconfundible', pais = 'paisinconfundible'
    WHERE usuario LIKE '%.invalid.%';
    UPDATE fichas SET plan = 'planinconfundible' WHERE usuario LIKE '%.rejected.%';
    UPDATE fichas SET interno = 'internoinconfundible-ilegible' WHERE usuario LIKE '%.unreadable.%'`)
}

async function change({ db }: House): Promise<void> {
  await db.sql(`
    UPDATE fichas SET nombre = 'Zacarinda II', correo = 'otra.' || correo, notas = 'otra notainconfundible';
    UPDATE fichas SET dni = NULL, apellidos = NULL WHERE usuario LIKE '%.plain.%';
    DELETE FROM fichas WHERE usuario LIKE '%.leaves.%'`)
}

/** No sync is owed, but for customers that cannot be read. */
async function rest({ db }: House): Promise<void> {
  const open = `SELECT string_agg(o.key || ' ' || coalesce(l.state, '') || ' ' || coalesce(l.reason::text, ''), '; ') AS open
    FROM rollcall.owed o LEFT JOIN rollcall.ledger l USING (key)
    WHERE (o.due_at IS NOT NULL OR o.unknown) AND l.reason->>'code' IS DISTINCT FROM 'customer-unreadable'`
  await until(
    async () => {
      const { rows } = await db.sql<{ open: string | null; noted: boolean }>(
        `SELECT (${open}) AS open, NOT EXISTS (SELECT FROM rollcall.outbox) AS noted`,
      )
      if (rows[0]?.open) throw new Error(rows[0].open)
      return rows[0]?.noted
    },
    { every: 100, what: 'every customer but the unreadable is at rest' },
  )
}

/** Everything that the commands of the command line print, each by its arguments. */
async function printed(house: House, signal: AbortSignal): Promise<Places> {
  const folder = await mkdtemp(join(tmpdir(), 'rollcall-privacy-'))
  const places: Record<string, string> = {}
  const run = async (args: readonly string[]) => {
    const lines: string[] = []
    const io = {
      out: (line: string) => void lines.push(line),
      err: (line: string) => void lines.push(line),
      env: { ...house.env, LOG_LEVEL: 'trace' },
      cwd: folder,
      terminal: false,
      stop: signal,
    }
    const code = await main(args, io)
    places[args.join(' ')] = lines.join('\n')
    expect([args, code], lines.join('\n')).toEqual([args, expect.toSatisfy((exit) => exit !== 2)])
  }
  try {
    await writeFile(join(folder, 'rollcall.config.js'), `export default ${JSON.stringify(house.authored)}`)
    for (const json of [[], ['--json']]) {
      await run(['status', ...json])
      await run(['failures', ...json])
      await run(['answers', ...json])
      await run(['pace', ...json])
      await run(['held', ...json])
      await run(['erasures', ...json])
      await run(['capture', 'status', ...json])
      await run(['backfill', '--mapping', '--dry-run', ...json])
      for (const name of ['invalid', 'rejected', 'unreadable', 'always', 'echo-fields', 'shared', 'leaves']) {
        await run(['failures', keyOf(name), ...json])
        await run(['sync', keyOf(name), '--dry-run', ...json])
        await run(['explain', keyOf(name), ...json])
        await run(['access', keyOf(name), ...json])
      }
    }
    await run(['sync', '--lookup', ...NAMES.map((name) => keyOf(name))])
    return places
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function scraped(log: string): Promise<string> {
  const url = /"url":"(http[^"]+)"/.exec(log)?.[1]
  if (url === undefined) return ''
  const texts = ['/metrics', '/healthz', '/readyz'].map(
    async (path) => await (await fetch(url + path)).text(),
  )
  return (await Promise.all(texts)).join('\n')
}

async function watchQueue(lane: QueueLane, house: House) {
  if (lane.name === 'redis') {
    const redis = await watchRedis(house.queueUrl)
    return {
      read: async () => ({ redis: await redis.read() }),
      [Symbol.asyncDispose]: redis[Symbol.asyncDispose],
    }
  }
  const tables = await watchTables(house.db.pool, 'rollcall_queue')
  return { read: tables.read, [Symbol.asyncDispose]: async () => undefined }
}

eachLane('what a customer holds', (lane) => {
  test('stands nowhere but in the customers, whatever fails and whatever the service tells', async ({
    signal,
  }) => {
    await using echoing = await startEchoing(2)
    await using house = await buildHouse(lane, { sql: SQL, config: AUTHORED, serviceUrl: echoing.url })
    echoing.behind = house.sandbox.url
    await using queue = await watchQueue(lane, house)
    const tables = await watchTables(house.db.pool, 'rollcall')
    const env = { ...house.env, LOG_LEVEL: 'trace', LOG_KEYS: 'hidden', OPS_PORT: '0' }
    await using worker = await runRollcall({ ...house, env }, ['worker'])

    await fill(house)
    await rest(house)
    await change(house)
    await rest(house)
    const output = lane === anyLane ? await printed(house, signal) : {}
    const metrics = await scraped(worker.output())
    worker.kill('SIGTERM')
    expect(await worker.exited).toMatchObject({ code: 0 })

    // The search means something only if each way of echoing was used and the service holds the values.
    expect([...echoing.struck.keys()].sort()).toEqual([...WAY_NAMES].sort())
    const held = JSON.stringify(house.sandbox.users.all())
    for (const value of ['zaquizami', 'Zacarinda II', '48273915C', '65509381747261', 'notainconfundible'])
      expect(held).toContain(value)

    const queued = await queue.read()
    const stored = await tables.read()
    const places = { ...queued, ...stored, ...output, metrics, log: worker.output() }
    expect(Object.keys(stored)).toContain('rollcall.ledger')
    expect(stored['rollcall.ledger']).toContain(FILE_KEY)
    expect(Object.values(queued).join('').length).toBeGreaterThan(1000)
    expect(worker.output()).toContain('"level":')
    expect(findLeaks(places, VALUES)).toEqual([])
    expect(findLeaks({ ...queued, metrics, log: worker.output() }, [FILE_KEY, USER_ID])).toEqual([])
    expect(findLeaks(places, Object.values(SECRETS))).toEqual([])
  })
})
