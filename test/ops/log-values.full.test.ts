import { expect, test } from 'vitest'
import { startEchoing, WAY_NAMES } from '../support/echoing.ts'
import { buildHouse, type House } from '../support/house.ts'
import { postgres as lane } from '../support/lanes.ts'
import { runRollcall } from '../support/process.ts'
import { until } from '../support/until.ts'

/** Each value has a part that occurs nowhere else, so that a search of the log is safe. */
const VALUES = {
  ...{ correo: 'ana.zurbano@ejemplo.es', dni: '12345678Z', nombre: 'Zurbana' },
  ...{ apellidos: 'Zurbano Ezkerra', nacido: '1987-11-23', movil: '600987123' },
  ...{ cobertura: 'Cobertura-Zurb', contrato: 'CTR-Zurb-77' },
  notas: 'Zurb: alergia a la penicilina',
  grupo: 'Grupo-Zurb',
}
const INVALID = {
  ...VALUES,
  correo: 'zurbano-sin-arroba',
  dni: '12345678A',
  movil: 'zurb-movil',
  nacido: '1987-11-24',
}
const PLANS = { unknown: 'plan-zurbano', known: 'premium' }

async function insert(
  { db }: House,
  id: string,
  plan: string,
  values: Readonly<Record<string, string>>,
): Promise<void> {
  const names = Object.keys(values)
  const places = names.map((_, at) => `$${at + 3}`)
  await db.sql(`INSERT INTO clientes (id, plan, ${names.join(', ')}) VALUES ($1, $2, ${places.join(', ')})`, [
    id,
    plan,
    ...Object.values(values),
  ])
}

/** Errors of Postgres whose own words quote a row, as those of constraints and casts do. */
const QUOTING = `
CREATE FUNCTION quoting() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
  IF NEW.key LIKE '%quoted%' THEN RAISE EXCEPTION 'the row of % says Zurbano', NEW.key; END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER quoting BEFORE UPDATE ON rollcall.ledger FOR EACH ROW EXECUTE FUNCTION quoting()`

test('at the lowest level, with everything going wrong, no line holds a field value, a hidden key or a secret', async () => {
  if (!lane) throw new Error('the Postgres lane is always there')
  await using service = await startEchoing(1)
  await using house = await buildHouse(lane, { serviceUrl: service.url })
  service.behind = house.sandbox.url
  const { users } = house.sandbox
  const env = { ...house.env, LOG_LEVEL: 'trace', LOG_KEYS: 'hidden' }
  await using worker = await runRollcall({ ...house, env }, ['worker'])
  await until(() => worker.output().includes('the worker runs'))

  // Answers that tell what they were sent, calls that end without one, rows that cannot be mapped.
  for (const way of WAY_NAMES) await insert(house, `key-zurb.${way}.1`, PLANS.known, VALUES)
  await insert(house, 'key-zurb-invalid', PLANS.known, INVALID)
  await insert(house, 'key-zurb-strange-plan', PLANS.unknown, VALUES)
  await until(() => users.size === WAY_NAMES.length) // all but the one who is always refused, and one more
  await house.sql(QUOTING)
  await insert(house, 'key-zurb-quoted', PLANS.known, VALUES)
  await until(() => users.get('key-zurb-quoted'))
  await house.sql('ALTER TABLE clientes RENAME COLUMN correo TO correo_zurb')
  await house.sql(`UPDATE clientes SET notas = 'Zurb: otra cosa'`)
  const failing = `SELECT FROM rollcall.owed WHERE token IS NOT NULL AND due_at <= now()`
  await until(async () => (await house.sql(failing)).rowCount)
  await house.sql('ALTER TABLE clientes RENAME COLUMN correo_zurb TO correo')
  await house.sql('DROP TRIGGER quoting ON rollcall.ledger')
  await house.sql(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()`,
  )
  await house.sql(`DELETE FROM clientes WHERE id = 'key-zurb-invalid'`)
  await until(() => users.get('key-zurb-invalid')?.status === 0)
  worker.kill('SIGTERM')
  expect(await worker.exited).toEqual({ code: 0, signal: null })

  const output = worker.output()
  const texts = [...Object.values(VALUES), ...Object.values(INVALID), PLANS.unknown, 'Zurb', 'zurb', 'key-']
  const secrets = Object.entries(house.env)
    .filter(([name]) => !name.startsWith('SERVICE_URL'))
    .map(([, value]) => (URL.canParse(value) ? new URL(value).password : value))
  expect(
    output.split('\n').filter((line) => [...texts, ...secrets].some((text) => text && line.includes(text))),
  ).toEqual([])
  // It was not silent about them either: each customer is there, under one and the same digest.
  const customers = output
    .split('\n')
    .filter((line) => line.startsWith('{') && line.includes('"customer"'))
    .map((line) => JSON.parse(line).customer)
  expect(new Set(customers).size).toBe(WAY_NAMES.length + 3)
})
