import type { Log } from '../ops/log.ts'
import type { PaceEvent } from '../pace/events.ts'

/** At the level that each deserves. */
const SAID: Readonly<Record<PaceEvent['kind'], readonly ['info' | 'warn' | 'error', string]>> = {
  lowered: ['info', 'the service is busy: the pace is lowered'],
  held: ['warn', 'the service asks to be left alone: nobody calls it meanwhile'],
  asking: ['warn', 'several customers were refused in a row: a probe asks whether it is our keys'],
  settled: ['info', 'it is not our keys that were refused'],
  opened: ['error', 'nobody calls the service any more, but for a probe now and then: see `rollcall pace`'],
  probed: ['warn', 'the service was probed'],
  trying: ['info', 'the service answers again: calls go on, slowly at first'],
  closed: ['info', 'the service works as before'],
  unheard: ['warn', 'what calls tell of the service could not be stored'],
}

/** What everybody should hear of the pace; why it opened stands beside it as `cause`. */
export function logPace(log: Log): (event: PaceEvent) => void {
  return ({ kind, ...about }) => {
    const [level, words] = SAID[kind]
    log[level](about, words)
  }
}
