// The bodies that the control endpoints take. A PUT takes a resource just as GET shows it.
import * as z from 'zod'
import { DURATION_FORM, readDuration } from '../../model/duration.ts'
import { parseTime } from '../../model/time.ts'
import { isRecord } from '../../model/values.ts'
import { MESSAGE_STATUSES } from '../../service/chat.ts'
import { fileMessage, imageMessage, textMessage } from '../../service/chat-schema.ts'
import { professionalList } from '../chat/professionals.ts'
import { inClockRange, type SandboxClock } from '../clock.ts'
import { contract, contractFromWords, isPreset, PRESETS } from '../contract/contract.ts'
import { faultFromWords, faultRule } from '../faults/faults.ts'
import { whole } from '../problems.ts'

const YEAR_S = 365 * 86_400

const MOMENT = 'expected a time from 1970 to 9989, such as 2026-03-02T09:30:00Z; without a zone it is UTC'
/** As epoch milliseconds. */
const moment = z.string(MOMENT).transform(parseTime).refine(inClockRange, MOMENT)
const duration = z.union(
  [z.number().min(0), z.string().transform(readDuration).pipe(z.number())],
  `expected ${DURATION_FORM}`,
)

/** The time to set, in epoch milliseconds. */
export const clockBody = (clock: SandboxClock) =>
  z
    .strictObject({ now: moment.optional(), advance: duration.optional() })
    .refine(
      ({ now, advance }) => (now === undefined) !== (advance === undefined),
      'expected either "now" or "advance"',
    )
    .transform(({ now, advance = 0 }) => now ?? clock.now() + advance)
    .refine(inClockRange, 'expected a time before 9990')

export const tokenBody = z.strictObject({
  user_id: z.string(),
  expires_in: whole(0, YEAR_S, 'seconds').default(3600),
})

const head = {
  user_id: z.string(),
  professional_id: z.string(),
  from: z.enum(['user', 'professional']).default('professional'),
  status: z.enum(MESSAGE_STATUSES).default('sent'),
  created_at: moment.optional(),
}
const NOT_GIVEN = { from_user_id: true, to_user_id: true, room_id: true, message_id: true } as const
export const messageBody = z.discriminatedUnion(
  'type',
  [
    textMessage.omit(NOT_GIVEN).extend(head),
    imageMessage.omit(NOT_GIVEN).extend(head),
    fileMessage.omit(NOT_GIVEN).extend(head),
  ],
  'expected text, image or file',
)

export const professionalsBody = z.preprocess(unwrap('professionals'), professionalList)

export const faultsBody = z.preprocess(unwrap('faults'), z.array(z.preprocess(readRule, faultRule)).max(1000))

/** Words as a JSON string, or an object of dimensions, which win over those of its optional `preset`. */
export const contractBody = z.preprocess((body) => {
  if (typeof body === 'string') return contractFromWords(body)
  if (!isRecord(body) || !isPreset(body.preset)) return body
  const { preset, ...dimensions } = body
  return { ...PRESETS[preset].contract, ...dimensions }
}, contract)

/** Takes a list out of the object in which GET shows it. */
function unwrap(name: string): (body: unknown) => unknown {
  return (body) => (isRecord(body) && Object.keys(body).join() === name ? body[name] : body)
}

/** Drops `struck` and `spent`, which GET adds: a rule that is set begins anew. */
function readRule(rule: unknown): unknown {
  if (typeof rule === 'string') return faultFromWords(rule)
  if (!isRecord(rule)) return rule
  return Object.fromEntries(Object.entries(rule).filter(([name]) => name !== 'struck' && name !== 'spent'))
}
