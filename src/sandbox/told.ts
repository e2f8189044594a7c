// How much an error tells of what came from outside, which may be thousands of names of thousands of letters.

export const MOST_PROBLEMS = 20

export function shorten(text: string, most = 60): string {
  return text.length <= most ? text : `${text.slice(0, most)}…`
}
