import { hash } from 'node:crypto'
import type { Config } from '../config/config.ts'
import type { CustomerKey } from '../model/customer.ts'
import { NORMAL_FORM_VERSION, normalForm } from '../model/normal.ts'
import { type FieldValue, OPTIONAL_FIELDS, type OptionalField } from '../model/user.ts'
import type { Mapped } from './map.ts'

/**
 * The ledger keeps of each field an HMAC over field, customer and value: equal values have equal
 * digests, and nothing can be read back or compared between customers. Two forms: `exact` of what goes over
 * the wire, `normal` of what a GET shows, because the service may store the same thing in another spelling.
 */
export type Digester = {
  /** Names key and normal form; digests made under another id cannot be compared. */
  readonly id: string
  /** For `normal` the value is in normal form already. */
  digest(form: 'exact' | 'normal', key: CustomerKey, field: OptionalField, value: FieldValue): string
  /** The digest of the whole mapped customer, and of how empty values are sent. */
  ofCustomer(key: CustomerKey, mapped: Mapped, clearWith: Config['clearWith']): string
}

/** The digest of "no value", which is no secret. */
export const NO_VALUE = 'null'

/** Any key will do where nothing is compared with what another key has made. */
export const NO_KEY = 'no digest key'

export function makeDigester(secret: string): Digester {
  const hmac = makeHmac(secret)
  const mac = (text: string) => hmac(text).slice(0, 22)
  return {
    id: `${mac('rollcall digest key').slice(0, 8)}.${NORMAL_FORM_VERSION}`,
    digest: (form, key, field, value) =>
      value === null ? NO_VALUE : mac(JSON.stringify([form, key, field, value])),
    ofCustomer: (key, mapped, clearWith) =>
      mac(JSON.stringify(['whole', key, ...essence(mapped, clearWith)])),
  }
}

/**
 * All that a customer's calls depend on, without the time until which the mapping's answer holds. An empty field
 * differs from one that the mapping does not set, and a service that refused null may take an empty text.
 */
function essence(mapped: Mapped, clearWith: Config['clearWith']): readonly unknown[] {
  const issues = 'issues' in mapped ? mapped.issues.map(({ field, code }) => [field, code]) : []
  if (mapped.kind !== 'user') return [mapped.kind, mapped.userId, issues]
  const { userId, status, fields } = mapped.user
  const values = OPTIONAL_FIELDS.map((field) => {
    const value = fields[field]
    return value === null ? [null, clearWith[field]] : value === undefined ? [] : [value]
  })
  return [mapped.kind, userId, issues, status, values]
}

/** In place of the digest of a value that no GET can show, where a call of unknown outcome may have changed it. */
export const UNKNOWN_VALUE = 'unknown'

export type CustomerDigests = {
  /** As `id` of the digester. */
  readonly keyId: string
  exact(field: OptionalField, value: FieldValue): string
  /** Brings the value into normal form first. */
  normal(field: OptionalField, value: FieldValue): string
  ofForm(field: OptionalField, form: string | null): string
}

export function forCustomer(digester: Digester, key: CustomerKey): CustomerDigests {
  const exact = once<FieldValue>((field, value) => digester.digest('exact', key, field, value))
  const ofForm = once<string | null>((field, form) => digester.digest('normal', key, field, form))
  return {
    keyId: digester.id,
    exact,
    ofForm,
    normal: (field, value) => ofForm(field, normalForm(field, value)),
  }
}

/** Makes each digest once: the plan after a GET asks for those of the plan before it. */
function once<V extends FieldValue>(digest: (field: OptionalField, value: V) => string): typeof digest {
  const made = new Map<string, string>()
  return (field, value) => {
    const name = `${field} ${typeof value} ${value}`
    const known = made.get(name) ?? digest(field, value)
    made.set(name, known)
    return known
  }
}

/** Bytes of a block of SHA-256, and of what it gives. */
const BLOCK = 64
const DIGEST = 32

/**
 * HMAC-SHA-256 (RFC 2104) with one key over many short texts, as base64url. The same as Node's `createHmac`, which makes an
 * object for each text: in a sweep, ten digests for each customer, that was a third of the time.
 */
export function makeHmac(secret: string): (text: string) => string {
  const bytes = Buffer.from(secret)
  const key = bytes.length > BLOCK ? hash('sha256', bytes, 'buffer') : bytes
  const padded = (pad: number, room: number) => {
    const block = Buffer.alloc(BLOCK + room)
    for (let at = 0; at < BLOCK; at++) block[at] = (key[at] ?? 0) ^ pad
    return block
  }
  let inner = padded(0x36, 1024)
  const outer = padded(0x5c, DIGEST)

  return (text) => {
    // UTF-8 has three bytes for a UTF-16 unit at the most.
    const most = 3 * text.length
    if (inner.length < BLOCK + most) inner = padded(0x36, 2 * most)
    const length = inner.write(text, BLOCK)
    outer.write(hash('sha256', inner.subarray(0, BLOCK + length), 'binary'), BLOCK, 'binary')
    return hash('sha256', outer, 'base64url')
  }
}
