// `rollcall drift` against a real database and the sandbox: what it says, in which form, and with which exit code.
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bundlePage } from '../../scripts/page.mjs'
import { release } from '../../src/brake/held.ts'
import { LANE, openVerifier } from '../drift/scene.ts'
import { type Ran, runDrift } from '../support/drift-command.ts'
import { heldIn } from '../support/held.ts'
import { buildHouse, type House, SECRETS } from '../support/house.ts'
import { runRollcall } from '../support/process.ts'
import { settleOnce } from '../support/settled-house.ts'
import { until } from '../support/until.ts'

/** Longer than a line of a terminal. */
const TRIAL = 't'.repeat(90)
const KEYS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']

let house: House
let folder: string
beforeAll(async () => {
  // As the build does: the page is made of it.
  await bundlePage(fileURLToPath(new URL('../../dist/report/page', import.meta.url)))
  house = await buildHouse(LANE)
  folder = await mkdtemp(join(tmpdir(), 'rollcall-drift-'))
  await house.sql(
    `INSERT INTO clientes (id, plan, correo, nombre)
     SELECT k, CASE WHEN k LIKE 'ttt%' THEN 'trial' ELSE 'premium' END, k || '@example.com', 'Leocadia'
     FROM unnest($1::text[]) AS k`,
    [[...KEYS, TRIAL]],
  )
  await settleOnce(house)
})
afterAll(async () => {
  await house[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

async function drift(
  args: readonly string[],
  env: Record<string, string | undefined> = {},
  authored = house.authored,
): Promise<Ran> {
  // A configuration that was read once is not read again from the same place.
  const cwd = authored === house.authored ? { cwd: folder } : {}
  const ran = await runDrift({ ...house, authored }, args, { env, ...cwd })
  const all = ran.out + ran.err
  for (const secret of Object.values(SECRETS)) expect(all).not.toContain(secret)
  expect(all).not.toMatch(/^\s+at .+:\d+:\d+/m)
  if (!args.includes('--show-values')) expect(all).not.toMatch(/Leocadia|Eufemia|example\.com/i)
  return ran
}

const json = async (args: readonly string[]) => {
  const ran = await drift(['--json', ...args])
  return { ...ran, report: JSON.parse(ran.out) }
}

/** How many the last run has counted so far. */
async function checkedCount(): Promise<number> {
  const { rows } = await house.sql<{ checked: number }>(
    `SELECT coalesce((tally->>'checked')::int, 0) AS checked FROM rollcall.run
     WHERE kind = 'drift' AND ended_at IS NULL ORDER BY id DESC LIMIT 1`,
  )
  return rows[0]?.checked ?? 0
}

test('while all agree it says so, with one GET each, and nothing but GETs', async () => {
  const before = house.calls().length
  const { code, report } = await json([])
  expect(code).toBe(0)
  expect(report).toMatchObject({
    conclusion: 'agrees',
    population: 11,
    chosen: 11,
    counts: { checked: 11, agrees: 11 },
    findings: [],
    target: { environment: 'production', local: true },
  })
  const calls = house.calls().slice(before)
  expect(calls.map(({ method }) => method)).toEqual(Array(11).fill('GET'))
})

describe('with three users who were changed behind our back', () => {
  beforeAll(() => {
    const { users } = house.sandbox
    users.edit('b', { first_name: 'Eufemia' })
    users.delete('c')
    users.edit(TRIAL, { status: 0 })
  })

  test('each is found with kind, field and cause; a trial that ended is reported and is no drift', async () => {
    const { code, report } = await json([])
    expect(code).toBe(3)
    expect(report.counts.kinds).toEqual({ missing: 1, differs: 1, 'trial-ended': 1 })
    const findings = report.findings.map(({ key, kind, access, fields, cause }: Record<string, unknown>) => ({
      key,
      kind,
      access,
      fields,
      cause,
    }))
    expect(findings).toEqual([
      { key: 'c', kind: 'missing', access: 'lost', fields: [], cause: 'edited-at-service' },
      { key: 'b', kind: 'differs', access: null, fields: ['first_name'], cause: 'edited-at-service' },
      { key: TRIAL, kind: 'trial-ended', access: null, fields: ['status'], cause: null },
    ])
    expect(report.headline).toMatch(/^1 customer is wrongly without [^.]+\. 2 of 11 /)
    expect(report.counts).toMatchObject({
      ...{ access: { lost: 1 }, causes: { 'edited-at-service': 2 }, fields: { first_name: 1 } },
    })
    expect(report).toMatchObject({ conclusion: 'drift', drifting: 2, suspected: 0 })
    expect(report.trend).toHaveLength(1)
  })

  test('values are shown with --show-values, and stand in no table', async () => {
    const { report } = await json(['--show-values'])
    const b = report.findings.find(({ key }: { key: string }) => key === 'b')
    expect(b.shown).toEqual([{ field: 'first_name', here: 'Leocadia', service: 'Eufemia' }])
    const t = report.findings.find(({ key }: { key: string }) => key === TRIAL)
    expect(t.shown).toEqual([{ field: 'status', here: 4, service: 0 }])
    const { rows } = await house.sql(
      `SELECT (SELECT jsonb_agg(f) FROM rollcall.finding f)::text || (SELECT jsonb_agg(r) FROM rollcall.run r)::text
         || (SELECT jsonb_agg(c) FROM rollcall.call c)::text AS stored`,
    )
    expect(rows[0].stored).not.toMatch(/Leocadia|Eufemia/)
  })

  test('--max-drift tolerates a share, and no more', async () => {
    expect(await drift(['--max-drift', '19%'])).toMatchObject({ code: 0 })
    expect(await drift(['--max-drift', '18%'])).toMatchObject({ code: 3 })
  })

  test('a sample says what it means for every customer, and warns where it says too little', async () => {
    const { code, report, err } = await json(['--sample', '4', '--max-drift', '60%'])
    expect(report).toMatchObject({ population: 11, chosen: 4, options: { sample: 4 } })
    const { low, high, share } = report.estimate
    expect(low).toBeLessThanOrEqual(share)
    expect(high).toBeGreaterThanOrEqual(2 / 11)
    expect(code).toBe(share > 0.6 ? 3 : 0)
    expect(err.includes('too small to rule out more than 60 %')).toBe(code === 0 && high > 0.6)
  })

  test('CSV, NDJSON and a page; a file is replaced by a whole report, and for its owner alone', async () => {
    const file = join(folder, 'report.csv')
    await writeFile(file, 'from before')
    expect(await drift(['--format', 'csv', '--output', file])).toMatchObject({ code: 3, out: '\n' })
    expect((await readFile(file, 'utf8')).trimEnd().split('\r\n')).toHaveLength(4)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const { out } = await drift(['--format', 'ndjson', '--from-ledger'])
    const [first, ...rest] = out.trim().split('\n')
    expect(JSON.parse(first ?? '')).toMatchObject({ type: 'report', conclusion: 'drift' })
    expect(rest).toHaveLength(3)
    await drift(['--format', 'html', '--output', 'page.html', '--from-ledger'])
    const page = await readFile(join(folder, 'page.html'), 'utf8')
    expect(page).toMatch(/^<!doctype html>[\s\S]+<\/html>\n$/)
    expect((await readdir(folder)).sort()).toEqual(['page.html', 'report.csv', 'rollcall.config.js'])
  })

  test('--from-ledger tells the same without a call, and needs no key', async () => {
    const before = house.calls().length
    const keys = ['SERVICE_URL', 'SERVICE_API_KEY', 'SERVICE_SECRET_KEY', 'ROLLCALL_DIGEST_KEY']
    const env = Object.fromEntries(keys.map((name) => [name, undefined]))
    const weekly = { ...house.authored, reconcile: { period: '7d' } }
    const { code, out } = await drift(['--from-ledger', '--json'], env, weekly)
    expect(code).toBe(3)
    const report = JSON.parse(out)
    expect(report).toMatchObject({
      ...{ drifting: 2, population: 11, coverage: { share: 1 }, options: { from: 'ledger' } },
      counts: { checked: 11, agrees: 8, access: { lost: 1 }, causes: { 'edited-at-service': 2 } },
    })
    expect(report.target.origin).toBe(house.sandbox.url)
    expect(house.calls()).toHaveLength(before)
  })

  test('stopped by a signal it writes no file, and goes on where it was', async () => {
    const stop = new AbortController()
    // The order is random: a lower limit could stop the run at a customer that differs, before the signal does.
    const stopped = runDrift(house, ['--rate', '5', '--max-drift', '100%', '--output', 'late.txt'], {
      stop: stop.signal,
      cwd: folder,
    })
    // So many that the rest of the run, with second checks, has fewer than all customers.
    await expect.poll(checkedCount).toSatisfy((checked) => checked > 3 && checked < 11)
    const before = house.calls().length
    stop.abort()
    const { code, err } = await stopped
    expect(code).toBe(1)
    expect(err).toContain('Stopped before the end')
    expect(err).toContain('rollcall drift --rate 5 --max-drift 100% --output late.txt')
    await expect(stat(join(folder, 'late.txt'))).rejects.toThrow('ENOENT')

    const { report, err: said } = await json(['--rate', '500'])
    expect(said).toContain('continues the unfinished run')
    expect(report).toMatchObject({ drifting: 2, chosen: 11, counts: { checked: 11 } })
    // Customers that agreed get no further GET, but for a sample before a user counts as missing, and one at the end.
    expect(house.calls().length - before).toBeLessThan(11 + 3 + 2 * 11)
    expect((await json([])).err).not.toContain('continues the')
  })

  test('killed it goes on too', async () => {
    await using killed = await runRollcall(house, ['drift', '--rate', '5', '--sample', '11'])
    await expect.poll(checkedCount).toSatisfy((checked) => checked > 0 && checked < 11)
    killed.kill('SIGKILL')
    await killed.exited
    const { report, err } = await json(['--rate', '500', '--sample', '11'])
    expect(err).toContain('continues the unfinished run')
    expect(report).toMatchObject({ drifting: 2, chosen: 11, counts: { checked: 11 } })
  })

  test('what a worker finds and repairs meanwhile is in the report, with how it ended', async () => {
    const stop = new AbortController()
    const { rows: before } = await house.sql(
      'SELECT clock_timestamp()::text AS at, max(id) AS id FROM rollcall.call',
    )
    const others = KEYS.filter((each) => each !== 'b' && each !== 'c')
    const seen = 'SELECT key FROM rollcall.ledger WHERE checked_at > $1::timestamptz AND key = ANY($2)'
    const stopped = runDrift(house, ['--rate', '1'], { stop: stop.signal })
    const late = await until(async () => (await house.sql(seen, [before[0].at, others])).rows[0]?.key, {
      what: 'a customer checked who agrees',
    })
    stop.abort()
    expect((await stopped).code).toBe(1)
    const { rows } = await house.sql('SELECT key FROM rollcall.call WHERE id > $1', [before[0].id])
    const key = others.find((each) => !rows.some((call) => call.key === each)) ?? ''
    expect(key).not.toBe('')
    for (const each of [key, late]) house.sandbox.users.edit(each, { status: 0 })
    await using verifier = await openVerifier(house, { repair: true })
    await until(async () => (await verifier.checkKeys([key]))[key]?.repairing === true, { what: 'a repair' })
    await settleOnce(house)
    const repaired = `SELECT FROM rollcall.finding WHERE key = $1 AND resolved_how = 'repaired'`
    expect((await house.sql(repaired, [key])).rowCount).toBe(1)
    await using reporting = await openVerifier(house)
    await until(async () => (await reporting.checkKeys([late]))[late]?.findingState === 'found')

    const { code, report } = await json(['--rate', '500'])
    expect(code).toBe(3)
    expect(report.findings.slice(0, 2)).toMatchObject([
      { key: 'c', kind: 'missing', access: 'lost', resolvedHow: null },
      { key, kind: 'differs', fields: ['status'], access: 'lost', resolvedHow: 'repaired' },
    ])
    expect(report).toMatchObject({
      ...{ drifting: 3, chosen: 11, foundLater: 1, resolvedMeanwhile: { repaired: 1 } },
      counts: { checked: 11, agrees: 7, access: { lost: 2 } },
    })
    house.sandbox.users.edit(late, { status: 2 })
    expect((await json([])).report).toMatchObject({ drifting: 2, foundLater: 0, resolvedMeanwhile: {} })
  })

  test('--repair owes each customer that differs, and says so; workers carry it out', async () => {
    const { code, report } = await json(['--repair'])
    expect(code).toBe(3)
    expect(report.repair).toEqual({ owed: 2, held: 0 })
    const { rows } = await house.sql(
      'SELECT key, lane FROM rollcall.owed WHERE due_at IS NOT NULL ORDER BY key',
    )
    expect(rows).toEqual([
      { key: 'b', lane: 2 },
      { key: 'c', lane: 2 },
    ])
    await settleOnce(house)
    expect(house.sandbox.users.get('b')?.first_name).toBe('Leocadia')
    expect(house.sandbox.users.get('c')?.status).toBe(2)
    expect((await json([])).code).toBe(0)
  })

  test('--repair holds a customer that is one of a mass, and says so; a person lets them go on', async () => {
    const edited = ['d', 'e', 'f', 'g']
    for (const key of edited) house.sandbox.users.edit(key, { first_name: 'Eufemia' })
    const strict = { ...house.authored, brake: { changes: { customers: 1, share: 0 } } }
    // The brake counts earlier entries until the window ends.
    await house.sql('DELETE FROM rollcall.brake_entry; DELETE FROM rollcall.brake')
    const { code, out } = await drift(['--repair', '--json'], {}, strict)
    expect(code).toBe(3)
    expect(JSON.parse(out)).toMatchObject({ drifting: 4, repair: { owed: 1, held: 3 } })
    expect((await drift(['--repair'], {}, strict)).out).toMatch(/3 .*held/)
    expect(await heldIn(house.db.pool, 'repair')).toBe(3)
    await release(house.db.pool, { kind: 'repair', by: 'Ana', why: 'edited by hand' })
    await settleOnce(house)
    expect(edited.map((key) => house.sandbox.users.get(key)?.first_name)).not.toContain('Eufemia')
  })

  test('where most users are missing no customer is reported by key, until a person says that it is meant', async () => {
    const gone = house.sandbox.users.all().slice(0, 8)
    for (const { user_id } of gone) house.sandbox.users.delete(user_id)
    expect((await json(['--repair'])).report).toMatchObject({ conclusion: 'not-credible', findings: [] })
    const word = ['--credible', '--why', 'removed on purpose', '--by', 'Ana']
    const { code, report } = await json(['--repair', ...word])
    expect(code).toBe(3)
    expect(report.counts.kinds.missing).toBe(gone.length)
    expect(report.repair).toEqual({ owed: gone.length, held: 0 })
    const { rows } = await house.sql(`SELECT by, why FROM rollcall.decision WHERE action = 'credible'`)
    expect(rows).toEqual([{ by: 'Ana', why: 'removed on purpose' }])
  })
})
