import { distance } from 'fastest-levenshtein'

/**
 * The known name that was probably meant, for "did you mean": at most a third of its letters are wrong, and
 * case, dashes and underscores do not count. Undefined when none is near.
 */
export function closest(name: string, known: readonly string[]): string | undefined {
  const near = known
    .map((candidate) => ({ candidate, far: distance(plain(name), plain(candidate)) }))
    .filter(({ candidate, far }) => far <= Math.max(1, Math.round(plain(candidate).length / 3)))
    .sort((a, b) => a.far - b.far)
  return near[0]?.candidate
}

function plain(text: string): string {
  return text.toLowerCase().replace(/[_-]/g, '')
}
