export type Counts<Word extends string = string> = Readonly<Partial<Record<Word, number>>>

/** A list of words that is written as one text. */
export function words(text: string): string[] {
  return text.split(/\s+/).filter(Boolean)
}

type WordOf<Text, Before = never> = Text extends `${infer Word} ${infer More}`
  ? WordOf<More, Before | Word>
  : Before | Text

/** The same for a closed list: its type knows the words, between which there is one space. */
export function closedList<const Text extends string>(text: Text) {
  return words(text) as WordOf<Text>[]
}

const SCALARS = new Set(['string', 'number', 'bigint', 'boolean'])

/** Undefined for what is no single value: an array, an object, nothing. */
export function scalarText(value: unknown): string | undefined {
  return SCALARS.has(typeof value) ? String(value) : undefined
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
