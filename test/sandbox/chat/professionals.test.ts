// Sections 2.2, 2.3 and 2.6 (ml_group_name): the professionals and who sees them.
import { describe, expect, it } from 'vitest'
import { PEOPLE } from '../../../src/sandbox/chat/people.ts'
import {
  makeProfessionals,
  type ProfessionalInput,
  professionalList,
  shownProfessional,
} from '../../../src/sandbox/chat/professionals.ts'
import { SPECIALITIES } from '../../../src/service/chat.ts'
import { professional as professionalWire } from '../../../src/service/chat-schema.ts'

const [SOMEBODY] = PEOPLE
if (SOMEBODY === undefined) throw new Error('there are no built-in professionals')
const made = (part: Partial<ProfessionalInput>): ProfessionalInput => ({ ...SOMEBODY, ...part })
const ids = (list: readonly { readonly professional_id: string }[]) => list.map((one) => one.professional_id)

describe('the built-in professionals', () => {
  const professionals = makeProfessionals(PEOPLE)
  const open = professionals.seenBy(null)

  it('are of every speciality of section 2.3, for everybody', () => {
    expect(new Set(open.map(({ speciality_id: id }) => id))).toEqual(new Set(SPECIALITIES.keys()))
  })

  it('have every field of section 2.2 filled', () => {
    for (const one of professionals.all()) {
      const shown = shownProfessional(one, { room: null, now: Date.parse('2026-03-02T10:00:00Z') })
      expect(professionalWire.parse(shown)).toEqual(shown)
      for (const text of [shown.name, shown.title, shown.description, shown.collegiate_number]) {
        expect(text).not.toBe('')
      }
      expect(shown.schedules.length).toBeGreaterThan(0)
    }
  })
})

describe('who is seen', () => {
  const professionals = makeProfessionals([
    made({ professional_id: 'all' }),
    made({ professional_id: 'nobody', groups: [] }),
    made({ professional_id: 'gold', groups: ['gold'] }),
    made({ professional_id: 'both', groups: ['gold', 'silver'] }),
  ])

  it.each([
    [null, ['all']],
    ['bronze', ['all']],
    ['gold', ['all', 'gold', 'both']],
    ['silver', ['all', 'both']],
    ['GOLD', ['all']],
    ['', ['all']],
  ])('by the group %s: %j', (group, seen) => {
    expect(ids(professionals.seenBy(group))).toEqual(seen)
  })
})

describe('status and what changes it (section 2.2)', () => {
  const one = professionalList.parse([
    made({
      schedules: [
        {
          day: 'monday',
          start_first_period: '9:00',
          end_first_period: '13:00',
          start_second_period: '15:00',
          end_second_period: '18:00',
        },
      ],
    }),
  ])
  it.each([
    ['2026-03-02T10:00:30Z', 'online', null, '2026-03-02T13:00'],
    ['2026-03-02T13:00:00Z', 'offline', '2026-03-02T15:00', null],
    ['2026-03-02T18:00:00Z', 'offline', '2026-03-09T09:00', null],
  ])('at %s: %s', (now, status, connects, disconnects) => {
    const shown = one.map((each) => shownProfessional(each, { room: null, now: Date.parse(now) }))
    expect(shown).toMatchObject([
      { status, next_connection_at: connects, next_disconnection_at: disconnects, room: null },
    ])
    expect(shown[0]).not.toHaveProperty('groups')
  })
})

describe('another list', () => {
  it('replaces them until it is cleared', () => {
    const professionals = makeProfessionals(PEOPLE)
    professionals.set([made({ professional_id: 'mine' })])
    expect(ids(professionals.all())).toEqual(['mine'])
    expect(professionals.get('mine')).toMatchObject({ groups: null })
    professionals.clear()
    expect(ids(professionals.all())).toEqual(ids(PEOPLE))
  })

  it.each<[string, readonly unknown[]]>([
    ['no id', [made({ professional_id: '' })]],
    ['a speciality that is none', [{ ...SOMEBODY, speciality_id: 9 }]],
    ['a status, which follows from the schedules', [{ ...SOMEBODY, status: 'online' }]],
  ])('is refused with %s, and changes nothing', (_name, list) => {
    const professionals = makeProfessionals(PEOPLE)
    expect(() => professionals.set(list as ProfessionalInput[])).toThrow()
    expect(professionals.all()).toHaveLength(PEOPLE.length)
  })
})
