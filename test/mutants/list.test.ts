// Each break of the list can still be made: its place stands once in its file.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { MUTANTS } from './list.ts'

test.each(MUTANTS)('$name', ({ file, find }) => {
  expect(readFileSync(file, 'utf8').split(find)).toHaveLength(2)
})
