// Of a work row (`o`): whose token is out. While something is due it is that of a sync, else that of a check, which
// writes nothing to the service and whose ending is dropped where its token fits no more.

/** A sync has it. */
export const UNDER_WAY = '(o.token IS NOT NULL AND o.due_at IS NOT NULL)'

/** In the SET of every statement that raises a version: the row is taken from a check at once. */
export const TAKE = `token = CASE WHEN o.due_at IS NOT NULL THEN o.token END,
  call_token = CASE WHEN o.due_at IS NOT NULL THEN o.call_token END`
