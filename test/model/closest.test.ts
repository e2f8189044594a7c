import { describe, expect, it } from 'vitest'
import { closest } from '../../src/model/closest.ts'
import { USER_FIELDS } from '../../src/model/user.ts'

describe('closest', () => {
  it.each([
    ['emial', 'email'],
    ['e-mail', 'email'],
    ['firstName', 'first_name'],
    ['birth_date', 'birthdate'],
    ['country', undefined],
    ['x', undefined],
    ['', undefined],
  ])('%s is meant for %s', (name, meant) => {
    expect(closest(name, USER_FIELDS)).toBe(meant)
  })
})
