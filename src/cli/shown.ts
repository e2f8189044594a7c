import { asEscape, OBEYED } from '../model/obeyed.ts'

/** Keys, ids and whatever else comes from outside: what a terminal would obey is shown in place of being obeyed. */
export function shown(text: string): string {
  return text.replace(OBEYED, asEscape)
}
