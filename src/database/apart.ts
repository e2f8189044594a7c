import pg from 'pg'

/** Classes of Postgres' errors that are about the session, the rights, the names or the server, whatever the rows are. */
const OF_ALL_ROWS = /^(08|25|28|3D|40|42|53|55|57|58)/

/** Whether an error is about rows: the same statement may do without one of them. */
export function isAboutRows(error: unknown): error is pg.DatabaseError {
  return error instanceof pg.DatabaseError && !OF_ALL_ROWS.test(error.code ?? '08')
}
