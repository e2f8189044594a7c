// HTML in which nothing that comes from outside is ever markup: values are escaped where they are put in.
import { asEscape, CONTROLS } from '../model/control-characters.ts'

/** A piece of HTML; text becomes one by `markup` alone. */
export type Markup = { readonly html: string }

type Value = string | number | Markup | readonly Markup[]

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** For text and for attributes in quotes; bidi and control characters are shown instead of obeyed. */
export function escapeHtml(text: string): string {
  return text.replace(CONTROLS, asEscape).replace(/[&<>"']/g, (letter) => ENTITIES[letter] ?? letter)
}

/** A template whose values are escaped unless they are markup themselves. */
export function markup(parts: TemplateStringsArray, ...values: readonly Value[]): Markup {
  return { html: parts.reduce((text, part, n) => text + asHtml(values[n - 1] ?? '') + part) }
}

/** A sentence of ours: what stands between backticks is a command. */
export function prose(text: string): Markup {
  return markup`${text.split('`').map((part, n) => (n % 2 === 0 ? markup`${part}` : markup`<code>${part}</code>`))}`
}

export const NOTHING: Markup = { html: '' }

function asHtml(value: Value): string {
  if (typeof value === 'number') return String(value)
  if (typeof value === 'string') return escapeHtml(value)
  return 'html' in value ? value.html : value.map(({ html }) => html).join('')
}

export function tableOf(columns: readonly string[], rows: readonly Markup[]): Markup {
  const titles = columns.map((column) => markup`<th scope="col">${column}</th>`)
  return markup`<table><thead><tr>${titles}</tr></thead><tbody>${rows}</tbody></table>`
}

/** JSON inside a script element: nothing in it can end the element, or begin a comment. */
export function asData(value: unknown): Markup {
  return { html: JSON.stringify(value).replaceAll('<', '\\u003c') }
}
