import { OPTIONAL_FIELDS, USER_FIELDS } from '../model/user.ts'

const MOST_DEPTH = 5
const MOST_KEYS = 30
const MOST_ELEMENTS = 30
const MOST_LETTERS = 1000
/** Of a body that is larger than that, the rest tells nothing new. */
const MOST_NODES = 300
const MOST_KEYS_READ = 100
const MOST_NAMES = 300
/** With more to compare with than this, only names that are known anyway are shown. */
const MOST_TEXTS = 2000
const MOST_TEXT_LETTERS = 50_000

/** At most four digits, so that telephone numbers, documents and dates are none. */
const IDENTIFIER = /^(?!(?:[^\d]*\d){5})[a-z_][\w.-]{0,39}$/i
/** From here on a text inside another one tells something: "es" is in "address". */
const TELLING = 3

const OPTIONAL = new Set<string>(OPTIONAL_FIELDS)
const FIELDS = '(fields)'

/** In lower case: names of section 2.6 and the customary ones of envelopes and errors, which tell of nobody. */
const KNOWN = new Set<string>([
  ...USER_FIELDS,
  ...['code', 'data', 'detail', 'details', 'error', 'errors', 'error_code', 'error_message', 'errorcode'],
  ...['errormessage', 'exception', 'field', 'fields', 'id', 'message', 'messages', 'ok', 'path', 'reason'],
  ...['result', 'status_code', 'statuscode', 'success', 'timestamp', 'title', 'trace_id', 'type', 'user'],
])

/**
 * What a JSON body looks like, without anything that stands in it: types, and the names of keys. Answers are not
 * documented (section 7); their shapes are how they are learnt, and are kept, so no value may get into one. Keys may
 * be values too (`{"ana@example.com": …}`): one is shown only if it looks like a name, and neither holds a text of the
 * body, or one of `hide` (what was sent), nor lies within one. The others are `*`. Of a user the optional fields stand
 * together as `(fields)`: which of them are there, or null, would make thousands of shapes of one answer.
 */
export function shapeOf(value: unknown, hide: readonly string[]): string {
  const nameOf = makeNaming([...hide, ...textsOf(value)])
  let nodes = 0

  function shape(inner: unknown, depth: number): string {
    nodes++
    if (nodes > MOST_NODES) return '…'
    if (inner === null) return 'null'
    if (typeof inner !== 'object') return typeof inner
    if (Array.isArray(inner)) return shapeOfArray(inner, depth)
    return shapeOfObject(inner as Readonly<Record<string, unknown>>, depth)
  }

  function shapeOfArray(items: readonly unknown[], depth: number): string {
    if (items.length === 0) return '[]'
    if (depth === MOST_DEPTH) return '[…]'
    return `[${union(items.slice(0, MOST_ELEMENTS).map((item) => shape(item, depth + 1)))}]`
  }

  function shapeOfObject(object: Readonly<Record<string, unknown>>, depth: number): string {
    const keys = Object.keys(object).sort()
    if (keys.length === 0) return '{}'
    if (depth === MOST_DEPTH) return '{…}'
    const inUser = Object.hasOwn(object, 'user_id')
    const named = Map.groupBy(keys.slice(0, MOST_KEYS_READ), (key) =>
      inUser && OPTIONAL.has(key) && !isNested(object[key]) ? FIELDS : nameOf(key),
    )
    const names = [...named.keys()].sort()
    const told = names.slice(0, MOST_KEYS).map((name) => {
      const shapes = (named.get(name) ?? []).map((key) => shape(object[key], depth + 1))
      return `${name}: ${union(shapes)}`
    })
    return `{${[...told, ...(names.length > MOST_KEYS || keys.length > MOST_KEYS_READ ? ['…'] : [])].join(', ')}}`
  }

  const whole = shape(value, 0)
  return whole.length > MOST_LETTERS ? `${whole.slice(0, MOST_LETTERS)}…` : whole
}

function isNested(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

function union(shapes: readonly string[]): string {
  return [...new Set(shapes)].sort().join(' | ')
}

/** How a key is shown; each is compared once. */
function makeNaming(hide: readonly string[]): (key: string) => string {
  const secrets = [...new Set(hide.map((text) => text.toLowerCase()))].filter((text) => text !== '')
  const length = secrets.reduce((sum, text) => sum + text.length, 0)
  const tooMuch = secrets.length > MOST_TEXTS || length > MOST_TEXT_LETTERS
  const known = new Map<string, string>()
  const decide = (key: string): string => {
    const lower = key.toLowerCase()
    if (KNOWN.has(lower)) return key
    if (tooMuch || known.size >= MOST_NAMES || !IDENTIFIER.test(key)) return '*'
    return secrets.some((secret) => betrays(lower, secret)) ? '*' : key
  }
  return (key) => {
    const name = known.get(key) ?? decide(key)
    known.set(key, name)
    return name
  }
}

function betrays(key: string, secret: string): boolean {
  if (key === secret) return true
  return (secret.length >= TELLING && key.includes(secret)) || (key.length >= TELLING && secret.includes(key))
}

/** Every text and number in it, keys aside. The nesting of a body that was read is bounded (json.ts). */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value === 'number') return [String(value)]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(textsOf)
}
