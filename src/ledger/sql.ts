// Pieces of SQL that several statements are made of.

/** A time as ISO 8601 in UTC, to the millisecond. */
export const iso = (time: string) => `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** For `IN`: words of ours, none of which holds a quotation mark. */
export const listed = (words: readonly string[]) => words.map((word) => `'${word}'`).join(', ')

/** A larger outbox has no index by key and is not searched. */
export const SEARCHED_BYTES = 32 * 1_048_576
