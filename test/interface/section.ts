// A section's tests, one for each of its facts (facts.ts).
import { describe, expect, it } from 'vitest'
import { type FactName, SECTIONS, type SectionNumber } from './facts.ts'

type Test = () => void | Promise<void>

/**
 * The tests of a section, one for each of its facts and named after it. A fact without a test, or a test of no fact,
 * is an error: to the type check, and in a run as well. A test that asserts nothing fails.
 */
export function section<Of extends SectionNumber>(
  number: Of,
  tests: { readonly [Name in FactName<Of>]: Test },
): void {
  const { title, facts } = SECTIONS[number]
  const wrong = differences(Object.keys(facts), Object.keys(tests))
  if (wrong.length > 0) throw new Error(`section ${number}: ${wrong.join(', ')}`)
  describe(`${number} ${title}`, () => {
    for (const [name, test] of Object.entries<Test>(tests)) {
      it(`${name}: ${(facts as Readonly<Record<string, string>>)[name]}`, async () => {
        expect.hasAssertions()
        await test()
      })
    }
  })
}

export function differences(facts: readonly string[], tests: readonly string[]): readonly string[] {
  return [
    ...facts.filter((name) => !tests.includes(name)).map((name) => `no test of ${name}`),
    ...tests.filter((name) => !facts.includes(name)).map((name) => `no such fact: ${name}`),
  ]
}
