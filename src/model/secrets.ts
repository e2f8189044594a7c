export const HIDDEN = '[hidden]'

/** User and password of an address, in text or inside a JSON string, but for those of our own example. */
const USER_INFO = /\b([a-z][a-z0-9+.-]*:\/\/)(?!user:password@host:)(?:\\.|[^"\\/?#\n])*@/gi
const PASSWORD_OPTION = /([?&]password=)(?:\\.|[^"\\&\s])*/gi

/**
 * The text with each address in it bare of user and password. The form of an address shows where they are. So this
 * needs no password, and changes no sentence in which a password is an ordinary word.
 */
export function withoutCredentials(text: string): string {
  return text.replace(USER_INFO, `$1${HIDDEN}@`).replace(PASSWORD_OPTION, `$1${HIDDEN}`)
}

const SHORTEST_RANDOM = 16

/**
 * Whether a secret looks random: long, with many changes between small letters, capitals and digits. Only such a secret
 * may be hidden wherever it stands: a hole in place of a word, a number or a name of a role would tell the secret.
 */
export function looksRandom(secret: string): boolean {
  const kinds = [...secret.replace(/[^a-z0-9]/gi, '')].map((letter) =>
    /\d/.test(letter) ? 'digit' : letter === letter.toLowerCase() ? 'small' : 'capital',
  )
  const changes = kinds.filter((kind, at) => at > 0 && kind !== kinds[at - 1]).length
  return kinds.length >= SHORTEST_RANDOM && changes >= kinds.length / 4
}
