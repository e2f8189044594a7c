import type { Client } from '../database/client.ts'
import type { Lane } from '../model/customer.ts'

/** A customer that has failed so often in a row is not waited for: its cause needs a person, or time. */
const SEVERAL_TIMES = 5

/** `open`: owed, and not one of those who fail again and again. */
type LaneOpen = { readonly open: number; readonly failAgain: number }

const OPEN = `
SELECT (count(*) FILTER (WHERE attempts < ${SEVERAL_TIMES}))::int AS open,
  (count(*) FILTER (WHERE attempts >= ${SEVERAL_TIMES}))::int AS "failAgain"
FROM rollcall.owed WHERE lane = $1 AND due_at IS NOT NULL`

/** Who is still owed a sync in this lane; whom a live change has overtaken is in another one. */
export async function readOpen(client: Client, lane: Lane): Promise<LaneOpen> {
  return (await client.query<LaneOpen>(OPEN, [lane])).rows[0] ?? { open: 0, failAgain: 0 }
}
