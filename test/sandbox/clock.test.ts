import { describe, expect, it } from 'vitest'
import { makeClock } from '../../src/sandbox/clock.ts'
import { chatHeaders, sandboxOfTest, talk } from './talk.ts'

const MONDAY = Date.parse('2026-03-02T10:00:00Z')

it('the clock runs with the machine, from wherever it was set', () => {
  let machine = 1000
  const clock = makeClock(() => machine)
  expect(clock.now()).toBe(1000)
  clock.set(MONDAY)
  machine += 5
  clock.advance(10)
  expect(clock.now()).toBe(MONDAY + 15)
  clock.clear()
  expect(clock.now()).toBe(1005)
})

describe('the clock over HTTP', () => {
  it('is shown, set with a zone, advanced by durations or milliseconds, and given back to the machine', async () => {
    const to = await sandboxOfTest({ now: () => MONDAY })
    expect(await talk(to, 'GET /_sandbox/clock')).toEqual({
      status: 200,
      json: { now: '2026-03-02T10:00:00.000Z' },
    })
    const put = async (body: unknown) => (await talk(to, 'PUT /_sandbox/clock', { body })).json
    expect(await put({ now: '2026-07-01T12:00:00+02:00' })).toEqual({ now: '2026-07-01T10:00:00.000Z' })
    expect(await put({ advance: '36h' })).toEqual({ now: '2026-07-02T22:00:00.000Z' })
    expect(await put({ advance: 1500 })).toEqual({ now: '2026-07-02T22:00:01.500Z' })
    expect((await talk(to, 'DELETE /_sandbox/clock')).status).toBe(204)
    expect(to.clock.now()).toBe(MONDAY)
  })

  it('moves tokens, trials and messages (section 3, fact 2; section 2.2), and not the journal', async () => {
    const to = await sandboxOfTest({ now: () => MONDAY })
    to.users.set('u', { status: 4 })
    const headers = await chatHeaders(to, 'u')
    const statusOf = async () => (await talk(to, 'GET /chat/professionals', { headers })).status
    expect(await statusOf()).toBe(200)
    to.clock.advance(2 * 3_600_000)
    expect(await statusOf(), 'the token has expired').toBe(401)
    to.clock.clear()
    expect(await statusOf(), 'and not for ever').toBe(200)
    to.clock.advance(15 * 86_400_000)
    const later = await chatHeaders(to, 'u')
    expect((await talk(to, 'GET /chat/professionals', { headers: later })).status, 'the trial is over').toBe(
      403,
    )
    expect(to.journal.list().at(-1)?.arrivedAt).toBe(MONDAY)
    const said = { from: 'user', content: { type: 'text', text: 'hello' } } as const
    expect(to.conversations.add({ userId: 'u', professionalId: 'p' }, [said])).toMatchObject({
      messages: [{ created_at: '2026-03-17T10:00:00' }],
    })
  })
})
