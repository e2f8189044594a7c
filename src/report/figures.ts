// Numbers and times as a report says them, the same in every language setting.

/** A whole number. Intl would take 20 ms to load. */
export function figure(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',')
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${figure(count)} ${count === 1 ? one : many}`
}

/** A figure below 10 has decimals, since the rate may be 0.1; it never reads as 0 while calls are made. */
export function renderRate(callsPerSecond: number): string {
  if (callsPerSecond > 0 && callsPerSecond < 0.01) return 'less than 0.01 calls/s'
  return `${callsPerSecond < 10 ? Number(callsPerSecond.toFixed(2)) : figure(Math.round(callsPerSecond))} calls/s`
}

/** Never "0 %" while there is some, and never "100 %" while something is missing: a reader stops at those two. */
export function percent(share: number): string {
  if (share <= 0) return '0 %'
  if (share >= 1) return '100 %'
  const value = share * 100
  if (value < 0.01) return '< 0.01 %'
  if (value > 99.99) return '> 99.99 %'
  return `${Number(value.toFixed(value < 1 || value > 99 ? 2 : 1))} %`
}

export function minute(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`
}
