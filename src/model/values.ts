export type Counts<Word extends string = string> = Readonly<Partial<Record<Word, number>>>

/** A list of words that is written as one text. */
export function words(text: string): string[] {
  return text.split(/\s+/).filter(Boolean)
}

const SCALARS = new Set(['string', 'number', 'bigint', 'boolean'])

/** Undefined for what is no single value: an array, an object, nothing. */
export function scalarText(value: unknown): string | undefined {
  return SCALARS.has(typeof value) ? String(value) : undefined
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
