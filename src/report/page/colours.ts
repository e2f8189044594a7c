/** The colours of the style sheet, as they are now: light, dark, or those of paper. */
export type Colours = {
  readonly text: string
  readonly faint: string
  readonly paper: string
  readonly line: string
  /** Kinds have colours of their own; everything else has one. */
  of(value: string): string
}

export function coloursNow(): Colours {
  const style = getComputedStyle(document.documentElement)
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim()
  const line = colour('accent')
  return {
    text: colour('text'),
    faint: colour('edge'),
    paper: colour('card'),
    line,
    of: (value) => colour(value) || line,
  }
}
