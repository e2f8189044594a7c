/** No answer of the service may keep us away for longer than this; the next one may say so again. */
export const RETRY_AFTER_CAP_MS = 3_600_000

const IMF_FIXDATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

type Clock = {
  /** The answer's own Date header: a wait until a date is measured on the clock that wrote the date. */
  readonly date: string | undefined
  /** Our clock, epoch milliseconds, for an answer without a Date. */
  readonly now: number
}

/**
 * Retry-After in milliseconds from receipt: seconds, or the date that servers send (RFC 9110, 10.2.3; the interface
 * document says nothing of it). A date that has passed is 0. Undefined when there is none or it cannot be read:
 * `Date.parse` alone would take "2" for a month.
 */
export function parseRetryAfter(header: string | undefined, { date, now }: Clock): number | undefined {
  const text = header?.trim()
  if (text === undefined || text === '') return undefined
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, RETRY_AFTER_CAP_MS)
  const until = parseHttpDate(text)
  if (until === undefined) return undefined
  const from = (date === undefined ? undefined : parseHttpDate(date.trim())) ?? now
  return Math.min(Math.max(until - from, 0), RETRY_AFTER_CAP_MS)
}

function parseHttpDate(text: string): number | undefined {
  const time = IMF_FIXDATE.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(time) ? undefined : time
}
