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
