// The pages name SQL that Postgres accepts, and commands, options and metrics that exist.
import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { freshDatabase } from '../support/database.ts'

const read = (file: string) => readFileSync(file, 'utf8')
const pages = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/*.md')]
const METRICS = 'docs/metrics.md'
const REFERENCE = 'docs/command-reference.md'
const foundIn = (pattern: RegExp) =>
  pages.flatMap((page) =>
    [...read(page).matchAll(pattern)].map(([whole, first, second]) => ({
      page,
      text: first ?? second ?? whole,
    })),
  )

/** The tables of the application in the examples, its role, and a queue in Postgres. */
const APPLICATION = `${read('examples/compose/schema.sql')}
CREATE TABLE accounts (id int, person_id int, plan text, email text, birthdate date, deleted_at date);
CREATE ROLE app;
CREATE SCHEMA IF NOT EXISTS rollcall_queue`

test('Postgres accepts every block of SQL, and every whole statement in a sentence', async () => {
  await using db = await freshDatabase()
  // Roles belong to the server, so these get the name of the database in front.
  const named = (sql: string) =>
    sql
      .replaceAll(/\b(?:rollcall_owner|rollcall_worker|app)\b/g, `${db.name}_$&`)
      .replaceAll(/(?<=DATABASE )tienda/g, db.name)
  const statements = foundIn(/^ *```sql\n(.*?)^ *```|`((?:SELECT|GRANT|DROP (?:SCHEMA|OWNED)) [^`…]+)`/gms)
  // The roles are created first, and kept.
  const createsRoles = ({ text }: { text: string }) => text.includes('CREATE ROLE')
  const roles = statements.filter(createsRoles).map(({ text }) => text)
  const others = statements.filter((each) => !createsRoles(each))
  expect([roles.length, others.length > 6]).toEqual([1, true])
  for (const { page, text } of others) {
    const script = named([APPLICATION, ...roles, text].join(';\n'))
    await expect(db.sql(`BEGIN; ${script}; ROLLBACK`), `${page}: ${text}`).resolves.toBeDefined()
  }
})

test('the pages name no metric that does not exist', () => {
  const metrics = foundIn(/\brollcall_(?!owner\b|worker\b|queue\b|digest)[a-z_]+/g).filter(
    ({ page }) => page !== METRICS,
  )
  expect(metrics.length).toBeGreaterThan(30)
  expect(metrics.filter(({ text }) => !read(METRICS).includes(`\`${text}\``))).toEqual([])
})

test('the pages name no command and no option that does not exist', () => {
  const sections = read(REFERENCE)
    .split(/^##+ /m)
    .map((section) => section.replaceAll('`', ''))
  const calls = foundIn(/(?:`|\bnpx )(rollcall [a-z][^`|#>\n]*)/g).filter(({ page }) => page !== REFERENCE)
  expect(calls.length).toBeGreaterThan(150)
  const wrong = calls.filter(({ text }) => {
    const [, first = '', second = ''] = text.split(/\s+/)
    const [group, section = group] = [first, `${first} ${second}`].map((name) =>
      sections.find((each) => each.startsWith(`rollcall ${name}\n`)),
    )
    const isOther = section === group && group?.includes('[command]') && /^[a-z]/.test(second)
    return (
      isOther || text.match(/--(?!help)[a-z-]+/g)?.some((option) => !section?.includes(option)) || !section
    )
  })
  expect(wrong).toEqual([])
})
