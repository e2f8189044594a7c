// The steps of the quick start, run from README.md's own text: a reader who follows them sees these lines.
import { mkdir, mkdtempDisposable, readFile, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { startSandbox } from '../../src/sandbox/server.ts'
import { runIn } from '../support/command.ts'
import { freshDatabase } from '../support/database.ts'
import { SECRETS } from '../support/house.ts'
import { anyLane } from '../support/lanes.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const SHOWN_ADDRESS = 'http://127.0.0.1:4010'

/** Each command with the lines that are shown below it; the worker has none. */
function stepsIn(page: string): { readonly command: string; readonly shown: readonly string[] }[] {
  const found = page.matchAll(/^(?:\$ )?(npx rollcall .*)\n((?:(?!```|\$ ).*\n)*)/gm)
  return [...found].map(([, command = '', below = '']) => ({
    command,
    shown: below.split('\n').filter((line) => !['', '…'].includes(line)),
  }))
}

test('the quick start of README.md shows what its commands print', async () => {
  const page = await readFile(join(ROOT, 'README.md'), 'utf8')
  await using opened = new AsyncDisposableStack()
  const db = opened.use(await freshDatabase({ empty: true }))
  const sql = (name: string) => readFile(join(ROOT, 'examples/compose', name), 'utf8')
  await db.sql(await sql('schema.sql'))
  await db.sql((await sql('customers.sql')).replaceAll(/^\\.*$|^SELECT pg_sleep.*$/gm, ''))
  const { SERVICE_API_KEY: apiKey, SERVICE_SECRET_KEY: secretKey } = SECRETS
  const sandbox = opened.adopt(await startSandbox({ apiKey, secretKey }), (each) => each.stop())
  const { path: cwd } = opened.use(await mkdtempDisposable(join(tmpdir(), 'rollcall-test-')))
  await mkdir(join(cwd, 'node_modules'))
  await symlink(ROOT, join(cwd, 'node_modules/rollcall'))
  await writeFile(join(cwd, 'rollcall.config.ts'), /^```ts\n(.*?)^```$/ms.exec(page)?.[1] ?? '')
  const env = {
    ...{ ...SECRETS, OPS_PORT: '0', LOG_LEVEL: 'error', SERVICE_URL: sandbox.url },
    ...{ DATABASE_URL: db.url, QUEUE_URL: await anyLane.queueUrl(db) },
  }
  const startWorker = () => {
    const stop = new AbortController()
    const worker = runIn(cwd, env, ['worker'], { stop: stop.signal })
    opened.defer(async () => {
      stop.abort()
      expect((await worker).code).toBe(0)
    })
  }

  for (const { command, shown } of stepsIn(page)) {
    if (command === 'npx rollcall worker') startWorker()
    if (shown.length === 0) continue
    const { out, err } = await runIn(cwd, env, command.split(' ').slice(2))
    const printed = out.replaceAll(sandbox.url, SHOWN_ADDRESS).split('\n')
    const missing = printed.reduce((left, line) => (line === left[0] ? left.slice(1) : left), shown)
    expect(missing, `$ ${command}\n${printed.join('\n')}\n${err}`).toEqual([])
  }
})
