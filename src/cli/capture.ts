import type { Command } from '@commander-js/extra-typings'
import type { ClientBase } from 'pg'
import { install, printSql, uninstall } from '../capture/install.ts'
import { closeMarks, dismissMarks, openMarks, readGap } from '../capture/marks.ts'
import { planCapture } from '../capture/relations.ts'
import { captureStatus, type TableState, type TableStatus, unfitTables } from '../capture/status.ts'
import { readEnv } from '../config/env.ts'
import { loadConfig } from '../config/load.ts'
import { describeCustomers } from '../customers/describe.ts'
import { quotedName } from '../customers/problems.ts'
import { findMapping } from '../ledger/generation.ts'
import { checkMigrated } from '../ledger/migrate.ts'
import { counted } from '../report/figures.ts'
import { requireActiveMapping, requireCapture, runSweep, type SweepingOptions } from '../sweep/run.ts'
import { makeDigester } from '../sync/digest.ts'
import { renderMark } from './attention.ts'
import { BINDING_ENV, bindingStatus, renderBinding } from './binding.ts'
import { withDatabase } from './connect.ts'
import { inTurn, NOT_SWEPT } from './in-turn.ts'
import type { AddCommand, Io } from './io.ts'
import { CONFIG_OPTION, JSON_OPTION } from './option-values.ts'
import { applying, columns, hanging, tell, warn } from './render.ts'
import { allMissed, OTHERS_SWEEP, renderExamples, renderMissed } from './render-sweeps.ts'

const EXAMPLES = `
Examples:
  rollcall capture install --print   print the SQL for a DBA instead
  rollcall capture status            exit code 3: the triggers do not fit, or a
                                     TRUNCATE or a gap is unresolved
  rollcall capture resync            after a TRUNCATE, or if changes were missed`

export const captureCommand: AddCommand = (program, io, exit) => {
  const capture = program.command('capture').addHelpText('after', EXAMPLES)
  sub(capture, 'install', 'create or update the triggers on the watched tables')
    .option('--print', 'print the SQL and change nothing')
    .action(async ({ config: file, json, print }) => {
      const config = await loadConfig(file, io.cwd)
      const env = readEnv(io.env, { need: [], may: BINDING_ENV })
      await asOwner(io, async (client) => {
        const plan = await planCapture(client, config)
        if (print) return io.out(printSql(plan))
        await checkMigrated(client)
        const { warnings } = await describeCustomers(client, config)
        warn(io, warnings)
        const leavesOthers = (await findMapping(client, config.fingerprint))?.current === false
        const unfit = (await unfitTables(client, config)).map(({ relation }) => quotedName(relation))
        const changed = await install(client, plan, { leavesOthers })
        const binding = await bindingStatus(client, env)
        warn(io, renderBinding(binding))
        tell(io, json, { changed, binding }, () => renderInstalled(changed, { unfit, leavesOthers }))
      })
    })
  sub(
    capture,
    'uninstall',
    'remove the triggers and functions of rollcall: no further change is captured',
  ).action(async ({ json }) => {
    const changed = await asOwner(io, uninstall)
    tell(io, json, { changed }, () =>
      changed.length === 0
        ? ['There was no trigger of rollcall.']
        : [`No longer captured: ${changed.join(', ')}`, ...hanging('', UNINSTALLED)],
    )
  })
  sub(
    capture,
    'status',
    'say whether the triggers fit the configuration, and whether a TRUNCATE or a gap in capture is unresolved',
  ).action(async ({ config: file, json }) => {
    const config = await loadConfig(file, io.cwd)
    const status = await withDatabase(io, {}, async (pool) => {
      return { tables: await captureStatus(pool, config), marks: await openMarks(pool) }
    })
    const marks = status.marks.flatMap((mark) => hanging('', renderMark(mark)))
    tell(io, json, status, () => [...renderTables(status.tables), ...marks])
    const fits = status.tables.every(({ state }) => state === 'fits') && status.marks.length === 0
    exit(fits ? 0 : 3)
  })
  sub(
    capture,
    'resync',
    'run a backfill after a TRUNCATE or missed changes, and revoke the access of customers without a row',
  )
    .option(
      '--dismiss',
      'only if a TRUNCATE was a mistake and the rows are back: end the warnings about it, without comparing customers',
    )
    .action(async ({ config: file, json, dismiss }) => {
      const config = await loadConfig(file, io.cwd)
      if (dismiss) {
        await withDatabase(io, {}, dismissMarks)
        return tell(io, json, { noted: 0 }, () => [
          'The warnings about earlier TRUNCATEs have ended. No customer was compared.',
        ])
      }
      // A stop ends it after a page, so that it can say how far it has come.
      const wanted = {
        need: ['ROLLCALL_DIGEST_KEY'],
        may: ['SERVICE_URL', 'SERVICE_API_KEY'],
        endsItself: true,
      } as const
      const { tally, ended, superseded, examples } = await withDatabase(io, wanted, async (pool, env) => {
        warn(io, renderBinding(await bindingStatus(pool, env)))
        return await checkAll(io, { pool, config, digester: makeDigester(env.ROLLCALL_DIGEST_KEY) })
      })
      const { customers, verdicts, missed } = tally
      const found = { ended, customers, noted: verdicts.differs, unreadable: verdicts.unreadable }
      const done = { ...found, missed, examples }
      tell(io, json, done, () =>
        applying([
          `Compared ${counted(customers, 'customer')}. Syncs requested: ${found.noted}.${found.unreadable > 0 ? ` Unreadable: ${found.unreadable}.` : ''}`,
          allMissed(missed) > 0 &&
            `Capture had missed ${renderMissed(missed)}${renderExamples(examples)}: see \`rollcall status\`.`,
          !ended && `Not all customers were compared: ${superseded ? REPLACED : ANEW}`,
        ]).flatMap((line) => hanging('', line)),
      )
      exit(ended ? 0 : 1)
    })
}

function sub(capture: Command, name: string, description: string) {
  return capture
    .command(name)
    .description(description)
    .option(...CONFIG_OPTION)
    .option(...JSON_OPTION)
    .addHelpText('after', `\nExample:\n  rollcall capture ${name}`)
}

type Installing = { readonly unfit: readonly string[]; readonly leavesOthers: boolean }

/** `unfit`: the tables whose changes were not all captured until now. */
function renderInstalled(changed: readonly string[], { unfit, leavesOthers }: Installing): readonly string[] {
  const captured = changed.filter((table) => unfit.includes(table))
  const others = changed.filter((table) => !unfit.includes(table))
  return applying([
    changed.length === 0 && 'Nothing to change: every watched table is captured.',
    captured.length > 0 && `Captured from now on: ${captured.join(', ')}`,
    others.length > 0 &&
      `Removed triggers or watched columns that this configuration does not need, from: ${others.join(', ')}`,
    captured.length > 0 &&
      !leavesOthers &&
      'Changes made before are not captured. For existing customers run `rollcall backfill --dry-run`, then `rollcall backfill`. If the triggers were missing or disabled since an earlier backfill, run `rollcall capture resync` instead.',
    leavesOthers &&
      'The active mapping is not the one of this configuration, so rollcall also keeps the triggers of the active mapping. To activate the mapping of this configuration, run `rollcall backfill --mapping`. Then run this command again: it removes the triggers that are no longer needed.',
  ]).flatMap((line) => hanging('', line))
}

const STATES: Readonly<Partial<Record<TableState, string>>> = {
  fits: 'captured',
  misnamed: 'correct the configuration or the table, then run `rollcall capture install`',
  leftover:
    'run `rollcall capture install` (it removes such triggers if the mapping of this configuration is active)',
}

function renderTables(tables: readonly TableStatus[]): readonly string[] {
  if (tables.length === 0) return ['No table is watched, and no capture trigger is installed.']
  const rows = tables.map(({ relation, state, reasons }) => {
    const why = reasons.length > 0 ? `${reasons.join('; ')}. To do: ` : ''
    return [quotedName(relation), `${why}${STATES[state] ?? 'run `rollcall capture install`'}`]
  })
  return columns(rows)
}

async function asOwner<T>(io: Io, work: (client: ClientBase) => Promise<T>): Promise<T> {
  return await withDatabase(io, { owner: true, endsItself: true }, async (pool) => {
    const client = await pool.connect()
    try {
      return await work(client)
    } finally {
      client.release(true)
    }
  })
}

const UNINSTALLED =
  'rollcall does not sync later changes. To capture again, run `rollcall capture install`, then `rollcall capture resync`. To remove all of rollcall, see docs/capture.md.'
const REPLACED = 'another mapping or another resync has replaced this one.'
const ANEW = 'run the command again; it starts over.'
const TRANSACTIONS_OPEN = 'open transactions may contain missed changes: this command waits until they end'

/** With marks it waits until their gap may be checked; without any it begins at once. */
async function checkAll(io: Io, checking: Pick<SweepingOptions, 'pool' | 'config' | 'digester'>) {
  const { pool, config } = checking
  const signal = io.stop
  // Before the marks are closed: with them goes what holds those who are missing.
  await requireCapture(pool, config)
  await requireActiveMapping(pool, config)
  await closeMarks(pool, ['truncate', 'overflow'])
  let why = OTHERS_SWEEP
  const ran = await inTurn({ pool, signal, say: () => io.err(why) }, 'sweep', async () => {
    const gap = await readGap(pool)
    const kind = gap.ids.length > 0 ? 'gap' : 'resync'
    if (gap.ready) return await runSweep({ ...checking, kind, signal, marks: gap.ids })
    why = TRANSACTIONS_OPEN
    return null
  })
  return ran ?? NOT_SWEPT
}
