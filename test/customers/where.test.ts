import { describe, expect, test } from 'vitest'
import { parseWhere } from '../../src/customers/conditions.ts'

describe('a condition in words', () => {
  const table: [string, string, string, readonly string[]][] = [
    ['plan=premium', 'plan', '=', ['premium']],
    [' plan  !=  premium ', 'plan', '<>', ['premium']],
    ['age<>4', 'age', '<>', ['4']],
    ['age<4', 'age', '<', ['4']],
    ['age<=4', 'age', '<=', ['4']],
    ['age > 4', 'age', '>', ['4']],
    ['age>=-4', 'age', '>=', ['-4']],
    ['until >= 2026-01-01 10:00+01', 'until', '>=', ['2026-01-01 10:00+01']],
    ["name='O''Hara, =x '", 'name', '=', ["O'Hara, =x "]],
    ["name=''", 'name', '=', ['']],
    ['name=a,b', 'name', '=', ['a,b']],
    ['plan in premium,trial', 'plan', 'in', ['premium', 'trial']],
    ["plan IN 'a, b' , c,'' ", 'plan', 'in', ['a, b', 'c', '']],
    ['until is null', 'until', 'is null', []],
    ['until IS NOT NULL', 'until', 'is not null', []],
    ['"Plan ""x"" y"=1', 'Plan "x" y', '=', ['1']],
    ['año=1', 'año', '=', ['1']],
    ['e=a=b', 'e', '=', ['a=b']],
  ]
  test.each(table)('%s', (text, column, operator, values) => {
    expect(parseWhere(text)).toEqual({ column, operator, values })
  })

  const NONE = ['', 'plan in a,', 'plan in ,a', "plan='a'b", 'plan is nothing', 'plan like x', 'a b=1']
  const WORDS = `plan =premium plan= plan='premium plan==premium plan="premium" plan=!premium 1=1`
  test.each([...NONE, ...WORDS.split(' '), 'plan between 1 and 2'])('is none: %s', (text) => {
    expect(parseWhere(text)).toBeNull()
  })
})
