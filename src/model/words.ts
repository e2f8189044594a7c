/** A list of words that is written as one text. */
export function words(text: string): string[] {
  return text.split(/\s+/).filter(Boolean)
}
