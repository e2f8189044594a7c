/** Codes of the system for an address on which no process may listen. */
const NOT_LISTENING = new Map([
  ['EADDRINUSE', 'something listens there already'],
  ['EADDRNOTAVAIL', 'this machine does not have this address'],
  ['EAFNOSUPPORT', 'this machine does not support this kind of address'],
  ['EINVAL', 'this machine does not have this address'],
  ['EACCES', 'the process may not listen there'],
  ['EPERM', 'the process may not listen there'],
  ['ENOTFOUND', 'no host has this name'],
  ['EAI_AGAIN', 'the host name cannot be looked up now'],
])

/** Undefined: the error is about something else. */
export function whyNotListening(error: unknown): string | undefined {
  return NOT_LISTENING.get(String((error as NodeJS.ErrnoException).code))
}
