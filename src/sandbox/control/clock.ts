// The control endpoint of the sandbox's clock.
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { DURATION_FORM, readDuration } from '../../model/duration.ts'
import { refuse } from '../answer.ts'
import { type Clock, inClockRange } from '../clock.ts'
import { send } from '../send.ts'
import { withBody } from './body.ts'

const NOW = 'a moment from 1970 to 9989 with its zone, such as 2026-03-02T09:30:00Z'
const EITHER = 'either "now" or "advance"'
const TOO_FAR = refuse(422, 'invalid', 'The body does not fit.', { advance: 'not beyond 9989' })

/** A moment in ISO form with its zone, as epoch milliseconds. */
export const moment = z.iso
  .datetime({ offset: true, error: NOW })
  .transform(Date.parse)
  .refine(inClockRange, NOW)

const EITHER_FORM = `${NOW}, or in UTC as the service writes it: 2026-03-02T09:30:00`

/** The same, or the service's own form of section 2.1: UTC without a zone. */
export const momentOrUtc = z.union(
  [
    moment,
    z.iso
      .datetime({ local: true, precision: 0 })
      .transform((text) => Date.parse(`${text}Z`))
      .refine(inClockRange),
  ],
  EITHER_FORM,
)

const duration = z.union(
  [z.number().min(0), z.string().transform(readDuration).pipe(z.number())],
  DURATION_FORM,
)

const clockBody = z
  .strictObject({ now: moment.optional(), advance: duration.optional() })
  .refine(({ now, advance }) => (now === undefined) !== (advance === undefined), EITHER)

/** GET and PUT `/clock`: the sandbox's time; another one, from which it goes on. */
export function addClockControl(control: FastifyInstance, clock: Clock): void {
  control.get('/clock', () => shown(clock))
  control.put(
    '/clock',
    withBody(clockBody, ({ now, advance = 0 }, reply) => {
      const next = now ?? clock.now() + advance
      if (!inClockRange(next)) return send(reply, TOO_FAR)
      clock.set(next)
      return shown(clock)
    }),
  )
}

function shown(clock: Clock): { readonly now: string } {
  return { now: new Date(clock.now()).toISOString() }
}
