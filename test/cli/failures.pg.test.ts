// The command itself, in this process, on a real database: what it prints, and how it exits.
import { expect, test } from 'vitest'
import { runBare } from '../support/command.ts'
import { freshDatabase, type TestDatabase } from '../support/database.ts'

const failures = (url: string, ...args: readonly string[]) => runBare(url, 'failures', ...args)

async function fill({ pool }: TestDatabase): Promise<void> {
  await pool.query(`
    INSERT INTO rollcall.owed (key, change_version, lane, due_at, attempts) VALUES
      ('ok', 1, 1, NULL, 0), ('a', 1, 1, NULL, 0), ('b', 1, 1, now() + interval '1 hour', 3), ('c', 1, 1, NULL, 0);
    INSERT INTO rollcall.ledger (key, user_id, state, reason, issues, refused, since) VALUES
      ('ok', 'ok', 'idle', NULL, '[]', '{}', now()),
      ('a', 'a', 'rejected', '{"code":"refused","status":422,"fields":["email"]}', '[]', '{}', now() - interval '2 hours'),
      ('b', 'b', 'failing', '{"code":"denied","status":403}', '[]', '{}', now() - interval '3 days'),
      ('c', 'c', 'idle', NULL, '[{"field":"email","code":"refused","expected":"a value that the service takes"}]',
        '{"email":"digest"}', now());
    INSERT INTO rollcall.call (key, at, by, plan, method, status, meaning, ms, fields, answer)
      VALUES ('b', now(), 'worker here/1', 'create', 'POST', 403, 'denied', 12, '{status,email}', 'f')`)
}

test('shows every reason, who it is, and one with its history; exits with 3', async () => {
  await using db = await freshDatabase()
  expect(await failures(db.url)).toMatchObject({ code: 0, out: expect.stringContaining('no customer') })
  await fill(db)
  const all = await failures(db.url)
  expect(all).toMatchObject({ code: 3, err: '' })
  for (const words of ['reason refused:422', 'reason denied:403', 'reason issue:email:refused', 'in 60 min'])
    expect(all.out).toContain(words)

  const list = await failures(db.url, '--reason', 'denied')
  expect(list).toMatchObject({ code: 3, out: expect.stringMatching(/^b +failing +3 days +3 +in 60 min/m) })
  expect(await failures(db.url, '--reason', 'issue:email')).toMatchObject({
    code: 3,
    out: expect.stringMatching(/^c +left out/m),
  })
  expect((await failures(db.url, '--reason', 'mapping')).code).toBe(0)

  const one = await failures(db.url, 'b', 'ok', 'nobody')
  expect(one.code).toBe(3)
  for (const words of ['POST', '403', 'to do ', '--reason denied:403', 'customer nobody'])
    expect(one.out).toContain(words)
  expect((await failures(db.url, 'ok')).code).toBe(0)
  expect((await failures(db.url, 'c')).code).toBe(3)
})

test('every form has JSON, with codes and words', async () => {
  await using db = await freshDatabase()
  await fill(db)
  const json = async (...args: readonly string[]) =>
    JSON.parse((await failures(db.url, ...args, '--json')).out)
  const all = await json()
  expect(all.customers).toEqual({ rejected: 1, failing: 1, leftOut: 1 })
  expect(all.reasons[0]).toMatchObject({ reason: 'refused:422', customers: 1, toDo: expect.any(String) })
  expect(all.issues[0]).toMatchObject({
    reason: 'issue:email:refused',
    customers: 1,
    toDo: expect.any(String),
  })
  // When the service refused the field is not stored.
  expect(all.issues[0]).toMatchObject({ since: null, sinceMs: null })
  expect((await json('--reason', 'issue:email')).customers).toMatchObject([{ key: 'c', since: null }])
  expect(await json('--reason', 'denied:403')).toMatchObject({
    total: 1,
    customers: [{ key: 'b', attempts: 3 }],
  })
  expect(await json('b', 'nobody')).toMatchObject([
    {
      key: 'b',
      history: { state: 'failing', calls: [{ status: 403 }] },
      advice: [{ what: expect.any(String) }],
    },
    { key: 'nobody', history: null, advice: [] },
  ])
  expect(await json('--retry', 'b', 'nobody')).toEqual({
    customers: 1,
    underWay: 0,
    waiting: 0,
    unheardOf: ['nobody'],
  })
})

test('--retry makes due, and exits with 3 only for a customer that is not known', async () => {
  await using db = await freshDatabase()
  await fill(db)
  const due = async () => {
    const { rows } = await db.sql<{ key: string }>(
      'SELECT key FROM rollcall.owed WHERE due_at <= now() ORDER BY key',
    )
    return rows.map(({ key }) => key).join('')
  }
  expect((await failures(db.url, '--retry', 'b', 'b')).out).toContain('1 customer to retry')
  expect(await due()).toBe('b')
  const some = await failures(db.url, '--retry', 'a', 'zz')
  expect(some).toMatchObject({ code: 3, out: expect.stringMatching(/no record .* zz/) })
  expect(await due()).toBe('ab')
  expect((await failures(db.url, '--retry', '--reason', 'issue:email')).code).toBe(0)
  expect(await due()).toBe('abc')
  expect(await failures(db.url, '--retry', '--all')).toMatchObject({
    code: 0,
    out: expect.stringContaining('3 customers to retry'),
  })
  expect((await failures(db.url, '--retry', '--reason', 'later')).out).toContain('no customer')
})

test('a 409 that names no field is one issue, and a held customer is listed by `held`', async () => {
  await using db = await freshDatabase()
  const taken = ['email', 'gender'].map((field) => ({ field, code: 'taken', expected: 'a free value' }))
  await db.sql(`
    INSERT INTO rollcall.owed (key, change_version, lane) VALUES ('c', 1, 1), ('h', 1, 1);
    INSERT INTO rollcall.ledger (key, state, reason, issues, refused, since) VALUES
      ('c', 'idle', NULL, '${JSON.stringify(taken)}', '{}', now()),
      ('h', 'held', '{"code":"held","kinds":["revocation"]}', '[]', '{}', now())`)
  const { issues } = JSON.parse((await failures(db.url, '--json')).out)
  expect(issues).toMatchObject([
    {
      fields: ['email', 'gender'],
      what: expect.stringContaining('one or more of these values: email, gender'),
    },
  ])
  expect((await failures(db.url, 'h')).out).toContain('`rollcall held --kind revocation` lists customers')
})

test('what it cannot do is said, with exit 2', async () => {
  await using db = await freshDatabase()
  const reported = async (...args: readonly string[]) => {
    const { code, err, out } = await failures(db.url, ...args)
    expect([code, out], args.join(' ')).toEqual([2, ''])
    return err
  }
  expect(await reported('--retry')).toContain('--retry needs customer keys')
  expect(await reported('--reason', 'refuzed')).toContain('did you mean refused?')
  expect(await reported('--retry', '--reason', 'denyed')).toContain('did you mean denied?')
  await db.sql('DROP TABLE rollcall.call')
  expect(await reported()).toContain('rollcall migrate')
  const help = await failures(db.url, '--help')
  expect(help).toMatchObject({ code: 0, out: expect.stringContaining('rollcall failures --retry --all') })
})
