// Every change of a customer's work, written down by the database itself: who held a claim when, and what was in doubt.
import type { Pool } from 'pg'
import type { ClaimChange } from '../support/claim-log.ts'

export type Work = {
  readonly id: string
  readonly key: string
  /** Epoch milliseconds. */
  readonly at: number
  readonly before: Owed | null
  readonly after: Owed
}

/** A row of `rollcall.owed`; bigints as text, times in epoch milliseconds. */
export type Owed = {
  readonly changeVersion: string
  readonly syncedVersion: string
  readonly suspectVersion: string
  readonly unknown: boolean
  readonly blind: boolean
  readonly statusDoubted: boolean
  readonly token: string | null
  readonly callToken: string | null
  readonly dueAt: number | null
}

const CREATE = `
CREATE TABLE chaos_work (n bigserial PRIMARY KEY, at timestamptz NOT NULL DEFAULT clock_timestamp(),
  id bigint NOT NULL, key text NOT NULL, before jsonb, after jsonb NOT NULL);
CREATE FUNCTION chaos_work() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO public.chaos_work (id, key, before, after) VALUES (NEW.id, NEW.key, to_jsonb(OLD), to_jsonb(NEW));
  RETURN NULL;
END $$;
CREATE TRIGGER chaos_work AFTER INSERT OR UPDATE ON rollcall.owed FOR EACH ROW EXECUTE FUNCTION chaos_work()`

/** Before the first worker starts. */
export async function createLog(pool: Pool): Promise<void> {
  await pool.query(CREATE)
}

const owed = (row: string) => `jsonb_build_object(
  'changeVersion', ${row}->>'change_version', 'syncedVersion', ${row}->>'synced_version',
  'suspectVersion', ${row}->>'suspect_version', 'unknown', ${row}->'unknown', 'blind', ${row}->'blind',
  'statusDoubted', ${row}->'status_doubted', 'token', ${row}->>'token', 'callToken', ${row}->>'call_token',
  'dueAt', (extract(epoch FROM (${row}->>'due_at')::timestamptz) * 1000)::float8)`

export async function readLog(pool: Pool): Promise<readonly Work[]> {
  const { rows } = await pool.query<Work>(
    `SELECT id::text, key, (extract(epoch FROM at) * 1000)::float8 AS at,
       CASE WHEN before IS NOT NULL THEN ${owed('before')} END AS before, ${owed('after')} AS after
     FROM chaos_work ORDER BY id, n`,
  )
  return rows
}

/** The part that tells of claims, as test/support/claim-log.ts judges it. */
export function claimChanges(log: readonly Work[]): readonly ClaimChange[] {
  return log.flatMap(({ id, at, before, after }) => (before ? [{ id, at, before, after }] : []))
}

/** Leave to call: from its claim until its own ending, or until its time is over. */
export type Claimed = {
  readonly key: string
  readonly token: string
  readonly from: number
  /** The row as it was claimed. */
  readonly row: Owed
  /** When its own ending took it away; null: it never ended by itself. */
  readonly endedAt: number | null
  /** What that ending left. */
  readonly left: Owed | null
}

export function claimsOf(log: readonly Work[]): readonly Claimed[] {
  const claims: Claimed[] = []
  for (const { key, at, before, after } of log) {
    if (after.callToken !== null && after.callToken !== before?.callToken)
      claims.push({ key, token: after.callToken, from: at, row: after, endedAt: null, left: null })
    const ended = before?.callToken != null && after.callToken === null && after.token === null
    const mine = ended ? claims.findLastIndex((claim) => claim.token === before.callToken) : -1
    const claim = claims[mine]
    if (claim) claims[mine] = { ...claim, endedAt: at, left: after }
  }
  return claims
}
