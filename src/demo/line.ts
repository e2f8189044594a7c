// Lines of text in tones: what is shown is decided without a terminal, and painted at the very end.
import type { CallKind } from './meter.ts'

export type Tone = 'strong' | 'dim' | 'good' | 'bad' | CallKind
export type Span = { readonly text: string; readonly tone?: Tone }
export type Line = readonly (Span | string)[]
export type Paint = (tone: Tone, text: string) => string

export function textOf(line: Line): string {
  return line.map((part) => (typeof part === 'string' ? part : part.text)).join('')
}

export function paintLine(line: Line, paint: Paint): string {
  return line
    .map((part) => {
      if (typeof part === 'string') return part
      return part.tone === undefined ? part.text : paint(part.tone, part.text)
    })
    .join('')
}

/** Cuts a line that is too long for the terminal: a wrapped one would tear the picture apart. */
export function fitLine(line: Line, width: number): Line {
  if (textOf(line).length <= width) return line
  const fitted: Span[] = []
  let left = width - 1
  for (const part of line) {
    const span = typeof part === 'string' ? { text: part } : part
    if (span.text.length >= left) {
      fitted.push({ ...span, text: `${span.text.slice(0, Math.max(0, left))}…` })
      return fitted
    }
    fitted.push(span)
    left -= span.text.length
  }
  return fitted
}

/** A text at the left and one at the right end. */
export function spread(left: Line, right: Line, width: number): Line {
  const gap = width - textOf(left).length - textOf(right).length
  return gap < 1 ? left : [...left, ' '.repeat(gap), ...right]
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}

/** A latency in as many figures as mean something; a dash when there is none. */
export function duration(ms: number | null): string {
  if (ms === null) return '–'
  return ms < 1000 ? `${Math.round(ms)} ms` : seconds(ms)
}

export function counted(count: number, one: string, many: string = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}
