/** Codes of the system for an address on which no process may listen. */
const NOT_LISTENING = new Map([
  ['EADDRINUSE', 'something listens there already'],
  ['EADDRNOTAVAIL', 'no address of this machine'],
  ['EAFNOSUPPORT', 'no kind of address that this machine has'],
  ['EINVAL', 'no address of this machine'],
  ['EACCES', 'not allowed to listen there'],
  ['EPERM', 'not allowed to listen there'],
  ['ENOTFOUND', 'no host of this name'],
  ['EAI_AGAIN', 'the name of the host cannot be looked up now'],
])

/** Undefined: the error is about something else. */
export function whyNotListening(error: unknown): string | undefined {
  return NOT_LISTENING.get(String((error as NodeJS.ErrnoException).code))
}
