// The command itself, in this process, on a real database: what it prints, and how it exits.
import { expect, test } from 'vitest'
import { held as heldRow, put } from '../brake/scene.ts'
import { runBare } from '../support/command.ts'
import { freshDatabase, type TestDatabase } from '../support/database.ts'

async function held(url: string, ...args: readonly string[]) {
  const { code, out, err } = await runBare(url, 'held', ...args)
  for (const line of out.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80)
  return { code, out, err }
}

async function fill({ pool }: TestDatabase): Promise<void> {
  await put(pool, [
    heldRow('a'),
    heldRow('b', ['clear:email', 'status']),
    heldRow('c'),
    { ...heldRow('x'), state: 'discarded' },
    { key: 'fine', sent: 2 },
  ])
  await pool.query(
    `INSERT INTO rollcall.brake (kind, taken, tripped_at, tripped_at_limit) VALUES ('revocation', 100, now(), 100)`,
  )
}

test('shows who is held, by kind and one by one, and exits with 3', async () => {
  await using db = await freshDatabase()
  expect(await held(db.url)).toEqual({ code: 0, out: 'no customer is held', err: '' })
  await fill(db)
  const all = await held(db.url)
  expect(all).toMatchObject({ code: 3, err: '' })
  for (const words of [
    'revocation: 2 customers held',
    'they would lose access',
    'at its limit of 100 customers',
    '1 customer with a change that a person has discarded',
    'clear:email: 1 customer held',
    'rollcall held release --kind',
    '`rollcall held --kind revocation`',
  ])
    expect(all.out).toContain(words)
  expect(all.out).toMatch(/^a +held +5 min +2 to 0 +revocation$/m)
  expect(all.out).toMatch(/^b +held +5 min +2 to 4 +clear:email, status$/m)

  const some = await held(db.url, '--kind', 'revocation', '--limit', '1')
  expect(some).toMatchObject({ code: 3, out: expect.stringContaining('and 2 more; --limit') })
  for (const words of ['clear:email', '`rollcall held --kind']) expect(some.out).not.toContain(words)
  expect((await held(db.url, '--kind', 'create')).code).toBe(0)
  expect(await held(db.url, 'x', 'fine')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^x +discarded/m),
  })
  expect(await held(db.url, 'fine')).toMatchObject({ code: 0, out: 'customer fine is not held' })
  expect((await held(db.url, 'b')).code).toBe(3)
})

test('a discard after a TRUNCATE says that its mark stands, and how it is closed', async () => {
  await using db = await freshDatabase()
  await put(db.pool, [heldRow('a', ['truncated']), heldRow('b', ['truncated']), heldRow('c')])
  await db.sql(`INSERT INTO rollcall.capture_mark (kind, relation) VALUES
    ('truncate', 'public.a_table_of_customers_with_a_long_name'), ('overflow', 'public.other')`)
  const discarded = await held(db.url, 'discard', '--kind', 'truncated', '--why', 'restored')
  expect(discarded).toMatchObject({ code: 0, out: expect.stringContaining('discarded: 2 customers') })
  expect(discarded.out).toMatch(/TRUNCATE\sof\spublic\.a_table_of_customers_with_a_long_name/)
  expect(discarded.out).toContain('`rollcall capture resync --dismiss`')
  expect(discarded.out).not.toContain('public.other')
  const other = await held(db.url, 'discard', '--kind', 'revocation', '--why', 'w')
  expect(other.out).not.toContain('resync')
  await db.sql('UPDATE rollcall.capture_mark SET resolved_at = now()')
  const closed = await held(db.url, 'discard', '--kind', 'truncated', '--why', 'again')
  expect(closed.out).not.toContain('resync')
})

test('tells the status to which a held change leads, as far as it can be known', async () => {
  await using db = await freshDatabase()
  await put(db.pool, [
    heldRow('a', ['status'], { sent: 4 }),
    heldRow('b', ['status'], { sent: 0 }),
    heldRow('c', ['status'], { sent: 2, seen: 7 }),
    heldRow('d', ['clear:email'], { sent: 4 }),
  ])
  const { out } = await held(db.url)
  expect(out).toMatch(/^a +held +5 min +4 to 2 +status$/m)
  expect(out).toMatch(/^b +held +5 min +0 to 2\/4 +status$/m)
  expect(out).toMatch(/^c +held +5 min +7 to \? +status$/m)
  expect(out).toMatch(/^d +held +5 min +4 +clear:email$/m)
})

test('releases and discards by kind and by key, and keeps who, when and why', async () => {
  await using db = await freshDatabase()
  await fill(db)
  const released = await held(db.url, 'release', 'b', 'x', 'fine', '--why', 'asked for', '--by', 'Ana')
  expect(released).toMatchObject({ code: 0, err: '' })
  expect(released.out).toContain('released: 2 customers')
  expect(released.out).toMatch(/fine is not held/)
  const discarded = await held(db.url, 'discard', '--kind', 'revocation', '--why', 'broken import')
  expect(discarded.out).toMatch(/discarded: 2 .*\nA discarded change is not sent\. If/)
  expect(discarded.out).toContain('the brake is reset')
  // The write of another part fails meanwhile.
  await db.pool.query(
    `UPDATE rollcall.ledger SET state = 'failing', reason = '{"code": "unknown", "fields": ["email"]}' WHERE key = 'a'`,
  )
  expect((await held(db.url, 'a')).out).toMatch(/^a +discarded +2 to 0 +revocation$/m)
  const busy = `UPDATE rollcall.owed SET due_at = now() + interval '1 min', token = $1, call_token = $1 WHERE key = 'a'`
  await db.pool.query(busy, [7])
  const early = await held(db.url, 'release', 'a', '--why', 'wanted after all')
  expect(early.out).toMatch(/^nothing is released\n1 customer is still undecided: a sync is due or under way/)
  await db.pool.query(busy, [null])
  const late = await held(db.url, 'release', 'a', '--why', 'wanted after all', '--by', 'Ana')
  expect(late.out).toMatch(/^released: 1 customer\n/)
  expect((await held(db.url, 'a')).out).toMatch(/^a +released .* 2 to 0 +revocation$/m)
  const none = await held(db.url, 'discard', '--kind', 'revocation', '--why', 'again')
  expect(none).toEqual({ code: 0, out: expect.stringContaining('nothing is discarded'), err: '' })

  const log = await held(db.url, 'log')
  expect(log.code).toBe(0)
  expect(log.out).toMatch(/discard of kind revocation, 2 customers\n +?by +\S+@\S+\n +?why +broken import/)
  expect(log.out).toMatch(
    /release by key, 2 customers\n +?key +b, x\n +?by +Ana\n +?why +asked for\n +?open +2 customers/,
  )
  await db.pool.query(`INSERT INTO rollcall.decision (action, by, why) VALUES ('credible', 'Eva', 'meant')`)
  const latest = (await held(db.url, 'log', '--limit', '1')).out
  expect(latest).toMatch(
    /^\S+ \S+ UTC: drift --credible: for 24 h, reports .* users\n +by +Eva\n +why +meant\n?$/,
  )
})

test('a misspelt command is no customer', async () => {
  await using db = await freshDatabase()
  const wrong = async (...args: readonly string[]) => (await held(db.url, ...args)).err
  expect(await wrong('relase', 'a')).toMatch(
    /customer relase: .*did you mean release\?\n.*customer a: check the key$/m,
  )
  for (const option of ['--why', '--by'])
    expect(await wrong('a', option, 'x')).toMatch(/--why and --by: .*held release/)
})

test('every form has JSON', async () => {
  await using db = await freshDatabase()
  await fill(db)
  const json = async (...args: readonly string[]) => JSON.parse((await held(db.url, ...args, '--json')).out)
  expect(await json()).toMatchObject({ kinds: [{ kind: 'revocation', held: 2 }, {}, {}], total: 3 })
  expect(await json('--kind', 'status')).toMatchObject({
    kinds: [{ kind: 'status' }],
    customers: [{ key: 'b' }],
  })
  expect(await json('release', 'a', 'fine', '--why', 'w')).toEqual({
    decision: '1',
    customers: 1,
    left: 0,
    reset: [],
    notHeld: ['fine'],
  })
  expect(await json('discard', 'c', '--why', 'w')).toMatchObject({ decision: '2', reset: ['revocation'] })
  expect(await json('log')).toMatchObject([
    { id: '2', action: 'discard' },
    { id: '1', action: 'release', why: 'w' },
  ])
})

test('what it cannot do is said, with exit 2, and nothing is done', async () => {
  await using db = await freshDatabase()
  await fill(db)
  const reported = async (...args: readonly string[]) => {
    const { code, err, out } = await held(db.url, ...args)
    expect([code, out], args.join(' ')).toEqual([2, ''])
    return err
  }
  expect(await reported('nobody')).toMatch(/no record .*nobody: check the key$/m)
  expect(await reported('release', 'a', 'nobody', '--why', 'w')).toMatch(
    /no record .*nobody: check the key$/m,
  )
  expect(await reported('release', 'a')).toContain('--why is missing')
  expect(await reported('release', 'a', '--why', ' ')).toContain('--why is missing')
  expect(await reported('discard', '--why', 'w')).toContain('discard needs customer keys')
  expect(await reported('release', 'a', '--kind', 'status', '--why', 'w')).toContain('exclude each other')
  expect(await reported('--kind', 'revocations')).toContain('did you mean revocation?')
  expect(await reported('--limit', '0')).toContain('--limit')
  expect((await db.sql('SELECT FROM rollcall.decision')).rowCount).toBe(0)
  const help = await held(db.url, '--help')
  expect(help).toMatchObject({ code: 0, out: expect.stringContaining('rollcall held log') })
})
