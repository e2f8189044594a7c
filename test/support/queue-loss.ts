import { administer } from './administer.ts'

/** Loses everything on a queue in Postgres, as a failover to an empty server would. */
export async function loseQueueInPostgres(queueUrl: string): Promise<void> {
  await despiteDeadlocks(() =>
    administer(
      queueUrl,
      `DO $$ BEGIN
         EXECUTE (SELECT 'TRUNCATE ' || string_agg(format('%I.%I', schemaname, tablename), ', ')
           FROM pg_tables WHERE schemaname = 'rollcall_queue' AND tablename <> 'migration');
       END $$`,
    ),
  )
}

/** A TRUNCATE of many tables beside a worker that is busy with them may lose against it. */
async function despiteDeadlocks(run: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await run()
      return
    } catch (error) {
      if (tries === 10 || (error as { code?: string }).code !== '40P01') throw error
    }
  }
}
