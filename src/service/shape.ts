import { OPTIONAL_FIELDS, USER_FIELDS } from '../model/user.ts'
import { words } from '../model/values.ts'

const MOST_DEPTH = 5
const MOST_KEYS = 30
const MOST_ELEMENTS = 30
const MOST_LETTERS = 1000

const OPTIONAL = new Set<string>(OPTIONAL_FIELDS)
const FIELDS = '(fields)'

/**
 * In lower case: names of section 2.6 and the customary ones of envelopes and errors, which tell nothing about a customer. Nothing else
 * is shown: a key may be a name or an address, and no comparison with what we know can tell them all.
 */
export const CUSTOMARY: ReadonlySet<string> = new Set<string>([
  ...USER_FIELDS,
  ...words(`
    action actual allowed api attributes body cause causes code constraint content context correlation_id correlationid
    count created created_at createdat data date debug description detail details done entity error error_code
    error_description error_message error_type errorcode errormessage errors exception expected extra failed field
    field_errors fielderrors fields file found help href id info instance invalid item items key kind last_page level
    limit line link links list loc location max message messages meta metadata method min missing msg name next object
    ok offset old operation options page pages param parameter params path per_page pointer previous problem problems
    property reason reasons ref reference request request_id requestid required resource response result results retry
    retry_after retryafter rule self service severity source stack status_code status_text statuscode statustext
    success timestamp title total trace trace_id traceid type updated updated_at updatedat uri url user users uuid
    valid validation validation_errors value values version violations warning warnings
    codigo datos descripcion detalle detalles error errores estado exito fecha mensaje mensajes motivo resultado tipo
    usuario usuarios`),
])

/**
 * The shape of a JSON body, without its values: types, and the names of keys. Answers are not
 * documented (section 7); their shapes are how they are learnt, and are kept, so no value may get into one. Keys may
 * be values too (`{"ana@example.com": …}`): one is shown only if it is a customary word, the others are `*`. In a user
 * the optional fields stand together as `(fields)`: which of them are there, or null, would make thousands of shapes of
 * one answer.
 */
export function shapeOf(value: unknown): string {
  function shape(inner: unknown, depth: number): string {
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
    const named = Map.groupBy(keys, (key) =>
      inUser && OPTIONAL.has(key) && !isNested(object[key]) ? FIELDS : nameOf(key),
    )
    const names = [...named.keys()].sort()
    const shown = names.slice(0, MOST_KEYS).map((name) => {
      const shapes = (named.get(name) ?? []).map((key) => shape(object[key], depth + 1))
      return `${name}: ${union(shapes)}`
    })
    return `{${[...shown, ...(names.length > MOST_KEYS ? ['…'] : [])].join(', ')}}`
  }

  const text = shape(value, 0)
  return text.length > MOST_LETTERS ? `${text.slice(0, MOST_LETTERS)}…` : text
}

function isNested(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

function union(shapes: readonly string[]): string {
  return [...new Set(shapes)].sort().join(' | ')
}

function nameOf(key: string): string {
  return CUSTOMARY.has(key.toLowerCase()) ? key : '*'
}
