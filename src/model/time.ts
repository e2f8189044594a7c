/** ISO 8601, and how Postgres prints `timestamptz` and `timestamp` with its date style ISO; years may have five digits. */
const TIME =
  /^\+?(\d{4,6})-(\d\d)-(\d\d)(?:[T ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:[.,](\d{1,9}))?)?(?:Z|([+-])(\d\d)(?::?([0-5]\d)(?::?([0-5]\d))?)?)?)?$/i

/**
 * Milliseconds since 1970, in UTC where no zone stands; NaN for what is no time. The language itself takes a time without
 * zone for a local one, and 30 February for 2 March.
 */
export function parseTime(text: string): number {
  const [whole, year, month, day, hours, minutes, seconds, fraction = '', sign, ...zone] =
    TIME.exec(text) ?? []
  if (whole === undefined) return Number.NaN
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  if (date.getUTCMonth() !== Number(month) - 1) return Number.NaN
  const ahead = spanMs(zone[0], zone[1], zone[2]) * (sign === '-' ? -1 : 1)
  const span = spanMs(hours, minutes, seconds) + Number(fraction.padEnd(3, '0').slice(0, 3))
  // Beyond what a Date can be it is no time either.
  return new Date(date.getTime() + span - ahead).getTime()
}

function spanMs(hours = '0', minutes = '0', seconds = '0'): number {
  return ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000
}
