// Bodies that no preset of the sandbox gives, by what a caller who reads them can know.

export type User = Readonly<Record<string, unknown>>

/** `after` is the user with the call carried out, `before` as it was. */
export type Asked = {
  readonly method: string
  readonly userId: string
  readonly before: User | null
  readonly after: User | null
  /** A write that the service takes. */
  readonly stores: boolean
  readonly pick: <T>(from: readonly T[]) => T
}

/** No JSON at all, or too much of it. */
export const UNREADABLE: readonly (readonly [string, (right: string) => string | Buffer])[] = [
  ['html', () => '<!doctype html><title>Sorry</title><h1>Sorry</h1>'],
  ['xml', () => '<?xml version="1.0"?><multistatus><response><status>500</status></response></multistatus>'],
  ['NUL', (right) => `\0${right}\0`],
  ['cut JSON', () => '{"user_id":"c","status":2,"emai'],
  ['two documents', (right) => `${right || '{}'}\n{"ok":true}`],
  ['UTF-16', (right) => Buffer.from(`\ufeff${right}`, 'utf16le')],
  ['half a letter', () => Buffer.from([0x7b, 0xc3, 0x28])],
  ['deep', () => '['.repeat(5000) + ']'.repeat(5000)],
  ['5 MB', () => `"${'x'.repeat(5 * 1024 * 1024)}"`],
  ['JSONP', (right) => `callback(${right})`],
]

/** A bare word, in no JSON: many a service answers so to a write that it has carried out. */
export const YES = ['OK', 'ok', 'Success', 'Done.', 'created'] as const

/** Readable, and says nothing against the call. */
export const AGREEING: readonly (readonly [string, (asked: Asked) => unknown])[] = [
  ['a number', () => 1],
  ['a text', () => 'OK'],
  ['true', () => true],
  ['an empty array', () => []],
  ['an array of the user', ({ after }) => [after]],
  ['the user in an envelope', ({ after }) => ({ data: after })],
  ['a result list', ({ after }) => ({ result: [after], errors: [] })],
  ['twice wrapped', ({ after }) => ({ response: { body: { user: after } } })],
  ['keys in upper case', ({ after }) => recased(after, (key) => key.toUpperCase())],
  ['keys in camel case', ({ after }) => recased(after, camel)],
  [
    'fields from before',
    ({ before, after }) => ({ ...before, user_id: after?.user_id, status: after?.status }),
  ],
  ['a status of words', () => ({ status: 'ok', code: 0 })],
]

/** Readable, and says neither yes nor no, or no. */
export const UNCLEAR: readonly (readonly [string, (asked: Asked) => unknown])[] = [
  ['null', () => null],
  ['another user', ({ after }) => ({ ...after, user_id: 'somebody-else' })],
  ['another status', ({ after }) => ({ ...after, status: after?.status === 2 ? 0 : 2 })],
  ['false', () => false],
  ['an error in 200', () => ({ error: { code: 17, message: 'try again' } })],
  ['an error in a list', () => [{ errors: ['no'] }]],
  ['a failing status', () => ({ success: false })],
  ['an inner status', () => ({ statusCode: 503 })],
]

export function recased(user: User | null, name: (key: string) => string): User {
  return Object.fromEntries(Object.entries(user ?? {}).map(([key, value]) => [name(key), value]))
}

export function camel(key: string): string {
  return key.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase())
}
