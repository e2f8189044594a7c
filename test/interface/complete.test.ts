// The list of facts against the tests, and against the document where that stands beside the checkout.
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { SECTIONS } from './facts.ts'
import { differences } from './section.ts'

const HERE = new URL('./', import.meta.url)
const DOCUMENT = new URL('../../../shared/service-api.md', import.meta.url)

const facts: Readonly<Record<string, { readonly facts: Readonly<Record<string, string>> }>> = SECTIONS

test('every section has its tests, once', async () => {
  const files = (await readdir(HERE)).filter((name) => name.endsWith('.test.ts'))
  const sources = await Promise.all(files.map((name) => readFile(new URL(name, HERE), 'utf8')))
  const tested = sources.flatMap((source) =>
    [...source.matchAll(/^section\('([\d.]+)', \{/gm)].map(([, of]) => of),
  )
  expect(tested.toSorted()).toEqual(Object.keys(SECTIONS).sort())
})

test('a fact without a test and a test of no fact are reported', () => {
  expect(differences(['a', 'b'], ['a', 'b'])).toEqual([])
  expect(differences(['a', 'b'], ['b', 'c'])).toEqual(['no test of a', 'no such fact: c'])
})

type Section = { readonly number: string; readonly text: string }

/** The document's sections; one without a text of its own shares the next one's. */
function sectionsOf(document: string): readonly Section[] {
  const parts = document.split(/^#{2,3} (?=\d)/m).slice(1)
  return parts.map((part) => {
    const [heading = '', ...lines] = part.split('\n')
    return { number: heading.match(/^\d+(\.\d+)?/)?.[0] ?? '', text: lines.join('\n').trim() }
  })
}

/** Rows of all tables but their heads, cell by cell, with the name of the second column. */
function rowsOf(text: string) {
  return [...text.matchAll(/(?:^\|.*\n?)+/gm)].flatMap(([table]) => {
    const lines = table
      .trim()
      .split('\n')
      .map((line) =>
        line
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim()),
      )
    const column = lines[0]?.[1]
    return lines.slice(2).map(([name = '', second = '']) => ({ name, second, column }))
  })
}

const count = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].length

test.skipIf(!existsSync(DOCUMENT))('the document has nothing that the list of facts lacks', async () => {
  const sections = sectionsOf(await readFile(DOCUMENT, 'utf8'))
  const lacking: string[] = []
  let rows = 0
  for (const [index, { number, text }] of sections.entries()) {
    const known = facts[number]?.facts
    if (known === undefined) {
      // Only a heading above others states nothing itself.
      if (text !== '' || !sections[index + 1]?.number.startsWith(`${number}.`)) lacking.push(number)
      continue
    }
    const shared = sections[index - 1]?.text === '' ? facts[sections[index - 1]?.number ?? '']?.facts : {}
    const names = Object.entries({ ...shared, ...known })
    for (const { name, second, column } of rowsOf(text)) {
      rows += 1
      const begins = column === 'Type' || column === 'Description' ? second : ''
      if (!known[name]?.startsWith(begins)) lacking.push(`${number} ${name} ${begins}`)
    }
    for (const [, rule] of text.matchAll(/^(\d+)\. /gm)) {
      if (!names.some(([name]) => name === `rule ${rule}` || name === `fact ${rule}`))
        lacking.push(`${number} ${rule}.`)
    }
    const open = names.filter(([name]) => name.startsWith('not shown: ')).length
    if (open < count(text, /not shown/g)) lacking.push(`${number} not shown`)
    if (names.length - open < count(text, /^- /gm)) lacking.push(`${number} points`)
  }
  expect(lacking).toEqual([])
  expect([sections.length, rows]).toEqual([21, 73])
})
