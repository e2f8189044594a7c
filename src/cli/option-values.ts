// What options are given, as text, and what is wrong with it.

export type NumberRule = {
  readonly name: string
  readonly expected: string
  readonly form: RegExp
  /** Of a text in that form; null where the number is out of bounds. */
  readonly read: (text: string) => number | null
}

/** Null where none was given, or it is wrong: then there is one problem more. */
export function numberOf(
  text: string | undefined,
  { name, expected, form, read }: NumberRule,
  problems: string[],
): number | null {
  if (text === undefined) return null
  const value = form.test(text) ? read(text) : null
  if (value === null) problems.push(`${name}: expected ${expected}`)
  return value
}

export function within(value: number, least: number, most: number): number | null {
  return value >= least && value <= most ? value : null
}

/** A column of the tables takes no more. */
export const MOST_WHOLE = 2_000_000_000

export function wholeNumber(name: string): NumberRule {
  return {
    ...{ name, expected: 'a whole number from 1', form: /^\d{1,10}$/ },
    read: (text) => within(Number(text), 1, MOST_WHOLE),
  }
}

/** For an option that may be given again. */
export function gathered(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text]
}
