// The professionals, and who of them a user sees (sections 2.2 and 4.2).
import { z } from 'zod'
import { type ProfessionalWire, professional, type RoomWire } from '../../service/chat-schema.ts'
import { minuteText } from '../clock.ts'
import { PEOPLE } from './people.ts'
import { periodsOf, standingAt } from './schedule.ts'

const PERIODS = 'a period ends after it starts (0:00 is the end of the day); equal times make no period'

const schedules = professional.shape.schedules.max(14).superRefine((list, context) => {
  for (const [index, schedule] of list.entries()) {
    if (periodsOf(schedule).some(({ start, end }) => end < start)) {
      context.addIssue({ code: 'custom', path: [index], message: PERIODS })
    }
  }
})

/** What is given of a professional: section 2.2 without what follows from clock and rooms. */
export const professionalInput = professional
  .omit({ status: true, next_connection_at: true, next_disconnection_at: true, room: true })
  .extend({
    professional_id: professional.shape.professional_id.min(1),
    schedules,
    /** Seen only by users whose `ml_group_name` is one of them (2.6); null: by everybody. */
    groups: z.array(z.string().min(1), 'a list of texts, or null').nullable().default(null),
  })
export const professionalList = z
  .array(professionalInput)
  .max(200)
  .superRefine((list, context) => {
    const seen = new Set<string>()
    for (const [index, { professional_id: id }] of list.entries()) {
      if (seen.has(id)) {
        context.addIssue({ code: 'custom', path: [index, 'professional_id'], message: 'used before' })
      }
      seen.add(id)
    }
  })

export type ProfessionalInput = z.input<typeof professionalInput>
export type StoredProfessional = z.output<typeof professionalInput>

export type Professionals = {
  all(): readonly StoredProfessional[]
  get(professionalId: string): StoredProfessional | undefined
  /** Those whom a user of this `ml_group_name` sees, in the order of the list. */
  seenBy(group: string | null): readonly StoredProfessional[]
  /** Replaces them all; throws a ZodError when one is malformed, and then changes nothing. */
  set(list: readonly ProfessionalInput[]): void
  /** Back to those of the start. */
  clear(): void
}

export function makeProfessionals(start: readonly ProfessionalInput[] = PEOPLE): Professionals {
  const first = professionalList.parse(start)
  let live = first
  return {
    all: () => live,
    get: (professionalId) => live.find(({ professional_id: id }) => id === professionalId),
    seenBy: (group) =>
      live.filter(({ groups }) => groups === null || (group !== null && groups.includes(group))),
    set(list) {
      live = professionalList.parse(list)
    },
    clear() {
      live = first
    },
  }
}

/** Section 2.2: status and what changes it next follow from the schedules and the moment. */
export function shownProfessional(
  { groups: _unseen, ...given }: StoredProfessional,
  { room, now }: { readonly room: RoomWire | null; readonly now: number },
): ProfessionalWire {
  const standing = standingAt(given.schedules, now)
  const connects = standing.status === 'offline' ? standing.connectsAt : null
  const disconnects = standing.status === 'online' ? standing.disconnectsAt : null
  return {
    ...given,
    status: standing.status,
    next_connection_at: connects === null ? null : minuteText(connects),
    next_disconnection_at: disconnects === null ? null : minuteText(disconnects),
    room,
  }
}
