// Pieces of SQL that many statements are made of.

/** A time as ISO 8601 in UTC, to the millisecond. */
export const iso = (time: string) => `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
export const isoSeconds = (time: string) =>
  `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`

/** An interval in milliseconds; a time in milliseconds since 1970. */
export const ms = (time: string) => `(extract(epoch FROM ${time}) * 1000)::float8`
export const wholeMs = (time: string) => `round(extract(epoch FROM ${time}) * 1000)::float8`

/** For `IN`: words of ours, none of which holds a quotation mark. */
export const listed = (words: readonly string[]) => words.map((word) => `'${word}'`).join(', ')
