import pg from 'pg'
import { PINNED, UNPINNED } from '../database/session.ts'
import { refuseUnfit } from './install.ts'
import type { CapturePlan } from './plan.ts'
import { createFunction, createTrigger, EVENTS, functionName } from './triggers.ts'

/** The triggers of a plan as a script for a DBA to read and to run with psql; the same SQL as `install` runs. */
export function printSql(plan: CapturePlan): string {
  refuseUnfit(plan)
  const parts = plan.watchers.flatMap((watcher) => [
    'BEGIN;',
    createFunction(watcher, plan.outboxLimitMb),
    ownedLikeTheOutbox(functionName(watcher)),
    'COMMIT;',
    ...watcher.tables.flatMap((table) => [
      '',
      'BEGIN;',
      ...EVENTS.map((event) => createTrigger(watcher, table, event)),
      'COMMIT;',
    ]),
    '',
  ])
  return [...HEAD, '', ...parts, 'RESET lock_timeout;', UNPINNED, ''].join('\n')
}

const HEAD = [
  '-- The capture triggers of rollcall; `rollcall migrate` comes first. CREATE TRIGGER waits for open transactions',
  '-- and holds up writers as long as it waits, so it waits half a second at most. A table that cannot be locked',
  '-- is left as it was: run the script again. `rollcall capture status` says what is missing.',
  PINNED,
  "SET lock_timeout = '500ms';",
]

/** The functions run with their owner's rights, which need not be those of the DBA who runs the script. */
function ownedLikeTheOutbox(name: string): string {
  const block = `BEGIN
  EXECUTE (SELECT pg_catalog.format('ALTER FUNCTION rollcall.%I() OWNER TO %I', ${pg.escapeLiteral(name)}, pg_catalog.pg_get_userbyid(relowner))
    FROM pg_catalog.pg_class WHERE oid = 'rollcall.outbox'::pg_catalog.regclass);
END`
  return `DO ${pg.escapeLiteral(block)};`
}
