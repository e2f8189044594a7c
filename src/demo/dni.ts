// DNI and NIE: digits and a letter that follows from them.

const LETTERS = 'TRWAGMYFPDXBNJZSQVHLCKE'
/** The first letter of a NIE, which counts as the digit of its place. */
const FIRST = 'XYZ'

/** From the very end of the range, so that it is hardly anybody's. */
export function makeDni(random: () => number): string {
  return withLetter(String(99_000_000 + Math.floor(random() * 999_999)))
}

export function makeNie(random: () => number): string {
  const first = FIRST.charAt(Math.floor(random() * FIRST.length))
  return withLetter(`${first}${9_900_000 + Math.floor(random() * 99_999)}`)
}

export function isRightDni(dni: string): boolean {
  return dni === withRightLetter(dni)
}

export function withRightLetter(dni: string): string {
  return withLetter(dni.slice(0, -1))
}

export function withWrongLetter(right: string): string {
  const next = LETTERS.indexOf(right.slice(-1)) + 1
  return right.slice(0, -1) + LETTERS.charAt(next % LETTERS.length)
}

function withLetter(digits: string): string {
  const number = Number(digits.replace(/^[XYZ]/, (letter) => String(FIRST.indexOf(letter))))
  return digits + LETTERS.charAt(number % LETTERS.length)
}
