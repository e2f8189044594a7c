/** A time span in words, as coarse as it is long. */
export function span(ms: number): string {
  if (ms < 1000) return 'a moment'
  if (ms < 120_000) return `${Math.round(ms / 1000)} s`
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`
  return ms < 172_800_000 ? `${Math.round(ms / 3_600_000)} h` : `${Math.round(ms / 86_400_000)} days`
}

/** Date and minute in that zone: 2026-11-23 09:00. */
export function localTime(at: Date, timeZone: string): string {
  return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' }).format(at)
}

const NEAR_MS = 6 * 86_400_000

/** As short as it can be told apart: 09:30 today, Mon 09:30 within six days, else with its date. */
export function nearTime(at: Date, now: Date, timeZone: string): string {
  const full = localTime(at, timeZone)
  const [day = '', time = ''] = full.split(' ')
  if (localTime(now, timeZone).startsWith(day)) return time
  const ahead = at.getTime() - now.getTime()
  if (ahead < 0 || ahead > NEAR_MS) return full
  return `${new Intl.DateTimeFormat('en-GB', { timeZone, weekday: 'short' }).format(at)} ${time}`
}
