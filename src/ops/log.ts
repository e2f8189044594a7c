import { type DestinationStream, destination, type Logger, pino } from 'pino'
import type { LogLevel } from '../config/env.ts'

export type Log = Logger

/** JSON lines on stderr; stdout is for data. Customer keys may stand in it, field values and secrets never. */
export function makeLog(
  level: LogLevel,
  stream: DestinationStream = destination({ fd: 2, sync: true }),
): Log {
  return pino({ level, base: null, timestamp: () => `,"time":"${new Date().toISOString()}"` }, stream)
}

/** Short troubles page nobody: the level rises as the same trouble goes on. */
export function troubleLevel(failures: number): 'debug' | 'warn' | 'error' {
  if (failures <= 1) return 'debug'
  return failures <= 4 ? 'warn' : 'error'
}

/** One line in this time, however often the same trouble is reported. */
const QUIET_MS = 5000

/**
 * For a trouble that many parts report at once, as a queue that is away does: the first is told, the rest are
 * counted and told with the next. Only for sources whose messages hold no values.
 */
export function makeQuiet(
  tell: (error: Error, times: number) => void,
  now: () => number,
): (error: Error) => void {
  let toldAt = Number.NEGATIVE_INFINITY
  let times = 0
  return (error) => {
    times++
    if (now() - toldAt < QUIET_MS) return
    tell(error, times)
    toldAt = now()
    times = 0
  }
}
