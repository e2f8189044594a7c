// Sections 2.2, 2.3 and 2.6 (ml_group_name): the professionals and who sees them.
import { expect, it } from 'vitest'
import { makeProfessionals, PEOPLE, type ProfessionalInput } from '../../../src/sandbox/chat/professionals.ts'

const [WAITING] = PEOPLE
if (WAITING === undefined) throw new Error('there are no built-in professionals')
const made = (part: Partial<ProfessionalInput>): ProfessionalInput => ({ ...WAITING, ...part })
const ids = (list: readonly { readonly professional_id: string }[]) => list.map((one) => one.professional_id)

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
])('who is seen by the group %s: %j', (group, seen) => expect(ids(professionals.seenBy(group))).toEqual(seen))

it('another list replaces them until it is cleared', () => {
  const professionals = makeProfessionals(PEOPLE)
  professionals.set([made({ professional_id: 'mine' })])
  expect(ids(professionals.all())).toEqual(['mine'])
  expect(professionals.get('mine')).toMatchObject({ groups: null })
  professionals.clear()
  expect(ids(professionals.all())).toEqual(ids(PEOPLE))
})
