import { describe, expect, it } from 'vitest'
import { makeJournal } from '../../src/sandbox/journal.ts'

const arrival = { method: 'PATCH', path: '/s2s/v1/users/u', arrivedAt: 1 }

describe('the journal', () => {
  it('shows a call from its arrival on, and fills in what becomes known', () => {
    const journal = makeJournal(10)
    const note = journal.open(arrival)
    expect(journal.list()).toMatchObject([
      { ...arrival, number: 1, userId: null, status: null, stored: false, raw: '' },
    ])
    note({ bytes: Buffer.from('{"status":0}'), userId: 'u' })
    note({ stored: true })
    note({ status: 200, answeredAt: 5 })
    expect(journal.list()).toEqual([
      {
        ...arrival,
        number: 1,
        userId: 'u',
        raw: '{"status":0}',
        body: { status: 0 },
        status: 200,
        stored: true,
        answeredAt: 5,
        faults: [],
      },
    ])
  })

  it('keeps the last entries, in order, found by number', () => {
    const journal = makeJournal(100)
    for (let i = 1; i <= 1234; i += 1) {
      journal.open(arrival)({ userId: `u${i % 3}` })
      expect(journal.list().length).toBe(Math.min(i, 100))
    }
    const numbers = (query?: Parameters<typeof journal.list>[0]) =>
      journal.list(query).map(({ number }) => number)
    expect(journal.last).toBe(1234)
    expect(numbers()).toEqual(Array.from({ length: 100 }, (_, i) => 1135 + i))
    expect(numbers({ after: 1231 })).toEqual([1232, 1233, 1234])
    expect(numbers({ after: 1234 })).toEqual([])
    expect(numbers({ after: 3, limit: 2 })).toEqual([1135, 1136])
    expect(numbers({ after: 1220, userId: 'u0', limit: 2 })).toEqual([1221, 1224])
  })

  it('never uses a number twice', () => {
    const journal = makeJournal(10)
    journal.open(arrival)
    journal.clear()
    expect(journal.list()).toEqual([])
    journal.open(arrival)
    expect(journal.list()).toMatchObject([{ number: 2 }])
    expect(journal.list({ after: 1 })).toHaveLength(1)
  })

  it('shows a body parsed only when JSON was sent', () => {
    const journal = makeJournal(10)
    journal.open(arrival)({ bytes: Buffer.from([0x22, 0xff, 0x22]) })
    journal.open(arrival)({ bytes: Buffer.from('{"__proto__":{"a":1}}') })
    const [first, second] = journal.list()
    expect(first?.body).toBeUndefined()
    expect(JSON.stringify(second?.body)).toBe('{"__proto__":{"a":1}}')
  })
})
