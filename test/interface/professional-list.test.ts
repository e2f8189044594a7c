import { expect } from 'vitest'
import { section } from './section.ts'
import { LAWYER, openScene, USER } from './support.ts'
import { arriving, expectHeaders, readAs } from './wire.ts'

const scene = await openScene()

section('4.2', {
  user: async () => {
    await scene.users.createUser({ user_id: 'gold', status: 2, ml_group_name: 'gold' })
    scene.fill(2, 'gold')
    const seenBy = async (userId: string) => (await (await scene.chatAs(userId)).listProfessionals()).items
    const [mine, theirs] = [await seenBy(USER), await seenBy('gold')]
    expect(theirs.length).toBeGreaterThan(mine.length)
    expect(mine.filter(({ room }) => room !== null)).toEqual([])
    expect(theirs.filter(({ room }) => room !== null)).toMatchObject([{ professionalId: LAWYER }])
  },
  headers: async () => {
    const headers = await scene.chatHeaders(USER)
    await expectHeaders(scene, ({ chat }) => chat.listProfessionals(), { headers })
  },
  request: async () => {
    const requests = await arriving(({ chat }) => chat.listProfessionals())
    expect(requests).toMatchObject([{ method: 'GET', url: '/chat/professionals', hasBody: false }])
  },
  answer: async () => {
    scene.fill(2)
    const wire = await scene.askAs(USER, '/chat/professionals')
    const fields = `collegiate_number description name next_connection_at next_disconnection_at photo
      professional_id room schedules speciality_id status title title_html`
    for (const each of wire) expect(Object.keys(each).sort()).toEqual(fields.split(/\s+/))
    const { items } = await (await scene.chatAs(USER)).listProfessionals()
    expect(items.map(({ room }) => room !== null)).toContain(true)
    expect(items.map(({ room }) => room !== null)).toContain(false)
    await expect(readAs({ professionals: [] }, (chat) => chat.listProfessionals())).rejects.toMatchObject({
      kind: 'unreadable',
    })
  },
})
