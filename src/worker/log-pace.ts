import type { Log } from '../ops/log.ts'
import type { PaceEvent } from '../pace/events.ts'

const CAUSES = {
  outage: 'the service is out of order',
  credentials: 'the service refuses our keys',
} as const

/** What everybody should hear of the pace, at the level that it deserves. */
export function logPace(log: Log): (event: PaceEvent) => void {
  return (event) => {
    const { kind: _, ...about } = event
    switch (event.kind) {
      case 'lowered':
        log.info(about, 'the service is busy: the pace is lowered')
        return
      case 'held':
        log.warn(about, 'the service asks to be left alone: nobody calls it meanwhile')
        return
      case 'asking':
        log.warn('several customers were refused in a row: a probe asks whether it is our keys')
        return
      case 'settled':
        log.info('it is not our keys that were refused')
        return
      case 'opened':
        log.error(about, `${CAUSES[event.cause]}: nobody calls it but a probe now and then`)
        return
      case 'probed':
        log.warn(about, 'the service was probed')
        return
      case 'trying':
        log.info(about, 'the service answers again: calls go on, slowly at first')
        return
      case 'closed':
        log.info('the service works as before')
        return
      case 'unheard':
        log.warn(about, 'what calls tell of the service could not be stored')
        return
      default:
        event satisfies never
    }
  }
}
