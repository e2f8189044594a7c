// Every change of a claim, written down by the database itself, and whether two were ever live for one customer.
import type { Pool } from 'pg'
import type { Lapse } from './explain.ts'

/** Changes of one customer, in order. Bigints as text, times in milliseconds since 1970. */
export type ClaimChange = {
  readonly id: string
  readonly at: number
  readonly before: Claimed
  readonly after: Claimed
}
export type Claimed = {
  readonly token: string | null
  readonly callToken: string | null
  readonly dueAt: number | null
}

/** `id` is the row of the customer in `rollcall.owed`. */
export type ClaimFinding = {
  readonly id: string
  readonly what: 'claimed over another' | 'cut short' | 'taken away' | 'token used twice'
}

export type LoggedChange = ClaimChange & {
  readonly key: string
  /** It also noted an ending that came late. */
  readonly lateEnding: boolean
}

const LOG = `
CREATE TABLE claim_log (
  n bigserial PRIMARY KEY, at timestamptz NOT NULL DEFAULT clock_timestamp(), id bigint NOT NULL,
  token bigint, call_token bigint, due_at timestamptz,
  new_token bigint, new_call_token bigint, new_due_at timestamptz, late_ending boolean);
CREATE FUNCTION log_claim() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
  INSERT INTO public.claim_log (id, token, call_token, due_at, new_token, new_call_token, new_due_at, late_ending)
  VALUES (OLD.id, OLD.token, OLD.call_token, OLD.due_at, NEW.token, NEW.call_token, NEW.due_at,
    NEW.suspect_version > OLD.suspect_version);
  RETURN NULL;
END $$;
CREATE TRIGGER log_claim AFTER UPDATE ON rollcall.owed FOR EACH ROW
  WHEN ((OLD.token, OLD.call_token, OLD.due_at, OLD.suspect_version)
    IS DISTINCT FROM (NEW.token, NEW.call_token, NEW.due_at, NEW.suspect_version))
  EXECUTE FUNCTION log_claim()`

/** Puts the log into a test's own database; before the first worker starts. */
export async function logClaims(pool: Pool): Promise<void> {
  await pool.query(LOG)
}

export async function readClaimLog(pool: Pool): Promise<readonly LoggedChange[]> {
  const ms = (column: string) => `(extract(epoch FROM ${column}) * 1000)::float8`
  const { rows } = await pool.query<LoggedChange>(
    `SELECT id::text, key, late_ending AS "lateEnding", ${ms('at')} AS at,
       jsonb_build_object('token', c.token::text, 'callToken', c.call_token::text, 'dueAt', ${ms('c.due_at')}) AS before,
       jsonb_build_object('token', new_token::text, 'callToken', new_call_token::text, 'dueAt', ${ms('new_due_at')}) AS after
     FROM claim_log c JOIN rollcall.owed USING (id) ORDER BY id, n`,
  )
  return rows
}

/**
 * A claim is live from the moment that its call token stands in the row. It ends when its own ending takes it away
 * together with its token, or when its lifetime has passed. Until then no other process may claim, lease, or move its
 * end nearer.
 */
export function twoLive(changes: readonly ClaimChange[]): readonly ClaimFinding[] {
  const findings: ClaimFinding[] = []
  const used = new Set<string>()
  for (const { id, at, before, after } of changes) {
    const starts = after.callToken !== null && after.callToken !== before.callToken
    if (starts && before.callToken !== null) findings.push({ id, what: 'claimed over another' })
    if (starts && used.has(after.callToken)) findings.push({ id, what: 'token used twice' })
    if (starts) used.add(after.callToken)
    const open = before.callToken !== null && (before.dueAt ?? 0) > at
    if (open && after.callToken === null && after.token !== null) findings.push({ id, what: 'taken away' })
    const goesOn = before.callToken !== null && after.callToken === before.callToken
    if (goesOn && (after.dueAt ?? 0) < (before.dueAt ?? 0)) findings.push({ id, what: 'cut short' })
  }
  return findings
}

/**
 * When the outcome of the customer's last claim became unknown: its lifetime had passed without an ending, and the
 * customer was leased anew. And once more when the ending of such a claim came after all: one for each, so that nothing
 * else passes for it. A claim that was under way just then is no less unknown when it ends. Milliseconds since 1970; for
 * the changes of one customer.
 */
export function lapsesOf(changes: readonly LoggedChange[]): readonly Lapse[] {
  const lapses: Lapse[] = []
  let lapsed = 0
  let tainted: string | null = null
  for (const { at, before, after, lateEnding } of changes) {
    const over = before.callToken !== null && (before.dueAt ?? 0) <= at
    if (over && after.token !== null && after.token !== before.token) {
      lapsed += 1
      lapses.push({ at, why: 'lapsed' })
    }
    const late = lateEnding && lapsed > 0
    if (late) lapsed -= 1
    const ends = tainted !== null && before.callToken === tainted && after.callToken !== tainted
    if (late || ends) lapses.push({ at, why: 'late ending' })
    if (late) tainted = before.callToken
    else if (ends) tainted = null
  }
  return lapses
}
