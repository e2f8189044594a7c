// Sections 2.2 and 2.4: connected or not, and until when, from the schedules.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { presenceAt } from '../../../src/sandbox/chat/professionals.ts'
import { WEEKDAYS } from '../../../src/service/chat.ts'
import type { ScheduleWire } from '../../../src/service/chat-schema.ts'
import { runs } from '../../support/size.ts'

type Day = ScheduleWire['day']

function day(name: Day, ...times: readonly [string, string, string, string]): ScheduleWire {
  const [start_first_period, end_first_period, start_second_period, end_second_period] = times
  return { day: name, start_first_period, end_first_period, start_second_period, end_second_period }
}

const everyDay = (...times: readonly [string, string, string, string]) =>
  WEEKDAYS.map((name) => day(name, ...times))

/** The first of March 2026 is a Sunday. */
const at = (text: string) => Date.parse(`${text}Z`)
const text = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString().slice(0, 16))
const mapping = (schedules: readonly ScheduleWire[], moment: string) => {
  const found = presenceAt(schedules, at(moment))
  return [found.status, text(found.changesAt)]
}

it.each([
  ['touch within a day', [day('monday', '12:00', '14:00', '14:00', '18:00')], '2026-03-02T18:00'],
  ['overlap', [day('monday', '9:00', '13:30', '13:00', '14:00')], '2026-03-02T14:00'],
  ['touch across midnight', everyDay('0:00', '6:00', '12:00', '0:00'), '2026-03-03T06:00'],
  ['do not touch at 23:59', everyDay('0:00', '1:00', '12:00', '23:59'), '2026-03-02T23:59'],
  ['go on all week', everyDay('0:00', '12:00', '12:00', '0:00'), null],
])('periods that %s', (_name, schedules, until) => {
  expect(mapping(schedules, '2026-03-02T13:20')).toEqual(['online', until])
})

/** Looked up minute by minute, and without any arithmetic on weeks. */
function isConnected(schedules: readonly ScheduleWire[], ms: number): boolean {
  const date = new Date(ms)
  const name = WEEKDAYS[(date.getUTCDay() + 6) % 7]
  const now = date.getUTCHours() * 100 + date.getUTCMinutes()
  const number = (time: string) => Number(time.replace(':', ''))
  return schedules
    .filter((schedule) => schedule.day === name)
    .some((schedule) =>
      [
        [schedule.start_first_period, schedule.end_first_period] as const,
        [schedule.start_second_period, schedule.end_second_period] as const,
      ].some(([start, end]) => {
        const until = number(end) === 0 && number(start) !== 0 ? 2400 : number(end)
        return number(start) <= now && now < until
      }),
    )
}

function nextChange(schedules: readonly ScheduleWire[], ms: number): number | null {
  const first = Math.floor(ms / 60_000) * 60_000
  const before = isConnected(schedules, first)
  for (let minute = 1; minute <= 7 * 1440; minute += 1) {
    if (isConnected(schedules, first + minute * 60_000) !== before) return first + minute * 60_000
  }
  return null
}

const time = fc.oneof(
  fc.constantFrom('0:00', '00:00', '00:01', '9:00', '09:30', '12:00', '14:00', '18:00', '23:59'),
  fc.tuple(fc.nat(23), fc.nat(59)).map(([hour, minute]) => `${hour}:${String(minute).padStart(2, '0')}`),
)
const schedule = fc
  .tuple(fc.constantFrom(...WEEKDAYS), fc.tuple(time, time, time, time))
  .map(([name, times]) => day(name, ...times))
const moment = fc.oneof(
  fc.integer({ min: 0, max: 4_102_444_800_000 }),
  // On the minute, where everything changes.
  fc.integer({ min: 0, max: 50_000_000 }).map((minute) => minute * 60_000),
)

it('whatever the schedules, status and next change are those found by looking at every minute', () => {
  fc.assert(
    fc.property(fc.array(schedule, { maxLength: 9 }), moment, (schedules, ms) => {
      const found = presenceAt(schedules, ms)
      expect(found.status === 'online').toBe(isConnected(schedules, ms))
      expect(found.changesAt).toBe(nextChange(schedules, ms))
    }),
    { numRuns: runs(500) },
  )
}, 30_000)
