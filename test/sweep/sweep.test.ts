import { expect, test } from 'vitest'
import { prefetchOne } from '../../src/sweep/sweep.ts'

async function* pages(log: string[], { fails }: { fails?: number } = {}) {
  try {
    for (let page = 1; page <= 3; page += 1) {
      log.push(`read ${page}`)
      await null
      if (page === fails) throw new Error('the connection broke')
      yield page
    }
  } finally {
    log.push('closed')
  }
}

test('the next page is being read while one is planned, and never the one after it', async () => {
  const log: string[] = []
  for await (const page of prefetchOne(pages(log))) {
    await new Promise(setImmediate)
    log.push(`judged ${page}`)
  }
  const reads = ['read 1', 'read 2', 'judged 1', 'read 3', 'judged 2', 'closed', 'judged 3']
  expect(log).toEqual(reads)
})

test('an error comes when it is the turn of its page, and those before it are planned', async () => {
  const log: string[] = []
  const judged: number[] = []
  const all = async () => {
    for await (const page of prefetchOne(pages(log, { fails: 2 }))) {
      await new Promise(setImmediate)
      judged.push(page)
    }
  }
  await expect(all()).rejects.toThrow('the connection broke')
  expect(judged).toEqual([1])
})

test('who stops half way leaves nothing open, also when the page ahead fails', async () => {
  for (const fails of [2, 9]) {
    const log: string[] = []
    for await (const page of prefetchOne(pages(log, { fails }))) if (page === 1) break
    expect(log).toEqual(['read 1', 'read 2', 'closed'])
  }
})
