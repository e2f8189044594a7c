import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { makeJournal, pageOfEntries } from '../../src/sandbox/journal.ts'

const arrival = { method: 'PATCH', path: '/s2s/v1/users/u', arrivedAt: 1 }

describe('the journal', () => {
  it('shows a call from its arrival on, and fills in what becomes known', () => {
    const journal = makeJournal(10)
    const note = journal.open(arrival)
    expect(journal.list()).toMatchObject([
      { ...arrival, number: 1, userId: null, status: null, stored: false, raw: '' },
    ])
    note({ raw: '{"status":0}', json: true, userId: 'u' })
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
    expect(journal.last).toBe(1234)
    expect(journal.list().map(({ number }) => number)).toEqual(
      Array.from({ length: 100 }, (_, i) => 1135 + i),
    )
    expect(journal.list({ after: 1231 }).map(({ number }) => number)).toEqual([1232, 1233, 1234])
    expect(journal.list({ after: 1234 })).toEqual([])
    expect(journal.list({ after: 3, limit: 2 }).map(({ number }) => number)).toEqual([1135, 1136])
    expect(journal.list({ after: 1220, userId: 'u0', limit: 2 }).map(({ number }) => number)).toEqual([
      1221, 1224,
    ])
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
    journal.open(arrival)({ raw: '"\ufffd"', json: false })
    journal.open(arrival)({ raw: '{"__proto__":{"a":1}}', json: true })
    const [first, second] = journal.list()
    expect(first?.body).toBeUndefined()
    expect(JSON.stringify(second?.body)).toBe('{"__proto__":{"a":1}}')
  })

  it.each([
    ['bodies', {}, { raw: 'x'.repeat(10) }],
    ['paths', { path: 'x'.repeat(10) }, {}],
    ['user ids', {}, { userId: 'x'.repeat(10) }],
  ])('is bounded in the text of %s as well', (_name, arrived, progress) => {
    const journal = makeJournal(1000, 100)
    for (let i = 0; i < 50; i += 1) journal.open({ ...arrival, path: '', ...arrived })(progress)
    expect(journal.list()).toHaveLength(10)
  })

  it('lets go of what it forgets', async () => {
    setFlagsFromString('--expose-gc')
    const collectGarbage = runInNewContext('gc') as () => void
    const journal = makeJournal(100_000, 1000)
    const forgotten = Array.from({ length: 50 }, () => {
      const faults = ['down']
      journal.open({ ...arrival, path: '' })({ raw: 'x'.repeat(500), faults })
      return new WeakRef(faults)
    })
    // A reference that was just made lives to the end of the turn.
    await new Promise((resolve) => setImmediate(resolve))
    collectGarbage()
    expect(journal.list()).toHaveLength(2)
    expect(forgotten.filter((each) => each.deref() !== undefined)).toHaveLength(2)
    journal.clear()
    await new Promise((resolve) => setImmediate(resolve))
    collectGarbage()
    expect(forgotten.filter((each) => each.deref() !== undefined)).toHaveLength(0)
  })

  it('is shown in pieces that are bounded in text, and never in none', () => {
    const journal = makeJournal(100)
    for (let i = 0; i < 6; i += 1) journal.open({ ...arrival, path: '' })({ raw: 'x'.repeat(10) })
    const numbers = (limit: number, maxText: number) =>
      pageOfEntries(journal.list(), { limit, maxText }).map(({ number }) => number)
    expect(numbers(10, 60)).toEqual([1, 2, 3, 4, 5, 6])
    expect(numbers(10, 59)).toEqual([1, 2, 3, 4, 5])
    expect(numbers(3, 60)).toEqual([1, 2, 3])
    expect(numbers(3, 25)).toEqual([1, 2])
    expect(numbers(3, 0)).toEqual([1])
    expect(pageOfEntries([], { limit: 3, maxText: 0 })).toEqual([])
  })

  it('calls that hang while they are forgotten do no harm', () => {
    const journal = makeJournal(1000, 100)
    const short = { ...arrival, path: '' }
    const late = journal.open(short)
    for (let i = 0; i < 50; i += 1) journal.open(short)({ raw: 'x'.repeat(10) })
    expect(journal.list()).toHaveLength(10)
    late({ raw: 'y'.repeat(90) })
    journal.open(short)({ raw: 'x'.repeat(10) })
    expect(journal.list()).toHaveLength(10)
    journal.open(short)({ raw: 'z'.repeat(1000) })
    expect(journal.list()).toMatchObject([{ raw: 'z'.repeat(1000) }])
  })
})
