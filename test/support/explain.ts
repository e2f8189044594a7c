// Whether every writing request to a service can be explained by what its caller could have known at that time. It goes
// by what was heard and by rules of its own, and asks nothing of the code that decided to make the calls.
import { type ComparableField, sameField } from '../../src/model/normal.ts'
import { OPTIONAL_FIELDS, type OptionalField, UNVERIFIABLE_FIELD } from '../../src/model/user.ts'
import type { RemoteUser } from '../../src/service/body.ts'
import type { BodyKind, Method } from '../../src/sync/classify.ts'

export type Body = Readonly<Record<string, unknown>>

/** Without an answer, whether the request can have left. */
export type Heard =
  | { readonly kind: 'answer'; readonly status: number; readonly body: BodyKind }
  | { readonly kind: 'nothing'; readonly reached: 'no' | 'maybe' }

/** One request about one user, as its caller and the service know it. */
export type JournaledCall = {
  readonly method: Method
  readonly body: Body | null
  /** Milliseconds of the caller's clock, from the start until it heard or gave up. */
  readonly from: number
  readonly to: number
  readonly heard: Heard
  /** The user that a GET showed. */
  readonly shown: RemoteUser | null
  /** The effect at the service; null: the request never arrived, or its effect is unknown. */
  readonly carriedOut: boolean | null
}

/**
 * From then on the effect of an earlier claim is unknown: of all its calls, if it did not end in time (`lapsed`), or of its
 * calls after the lookup of another process (`late ending`). In milliseconds of the caller.
 */
export type Lapse = { readonly at: number; readonly why: 'lapsed' | 'late ending' }

export type Finding = {
  /**
   * `overlap`: two requests at once. `no-lookup`: a write after one of unknown outcome, and no GET showed anything in
   * between. `repeated`: a write of nothing but what the caller knew to be there. `lie`: the service itself did not do
   * what it said, so that nothing can be asked of its caller.
   */
  readonly kind: 'overlap' | 'no-lookup' | 'repeated' | 'lie'
  /** The place of the call among those that were given. */
  readonly at: number
}

/** A request that was surely not carried out. */
const SURE = new Set([400, 401, 403, 404, 409, 410, 413, 414, 422, 429, 431])
/** Said of the caller or of the moment, and not of the user: nothing new is known of it. */
const NOT_HANDLED = new Set([401, 429])

type Field = 'status' | OptionalField
/** The caller's knowledge: as it sent the value, or as a GET showed it; absent: not known. */
type Knowledge = { readonly sent: unknown } | { readonly shown: RemoteUser }
type Known = {
  readonly there: boolean | null
  readonly values: Readonly<Partial<Record<Field, Knowledge>>>
  /** Nothing may be written before a GET has shown the user. */
  readonly mustLookUp: boolean
  /** A GET has shown the user, and no write was taken for sure since. */
  readonly lookedUp: boolean
  /** The last write, when it was surely refused: it, or a part of it, may be sent again. */
  readonly refused: Body | null
  /** A lapse may have changed the field that no GET shows, and no taken write has carried it since. */
  readonly hidden: boolean
}

const NOTHING = { there: null, values: {}, mustLookUp: false, lookedUp: false, refused: null }
const NOTHING_KNOWN: Known = { ...NOTHING, hidden: false }

/** Calls about one user without an explanation; these, and the lapses, in the order in which they were begun. */
export function unexplained(
  calls: readonly JournaledCall[],
  lapses: readonly Lapse[] = [],
): readonly Finding[] {
  const findings: Finding[] = []
  let known = NOTHING_KNOWN
  let busyUntil = Number.NEGATIVE_INFINITY
  const coming = [...lapses]
  for (const [at, call] of calls.entries()) {
    for (; coming[0] && coming[0].at <= call.from; coming.shift()) known = lapsed(known, coming[0])
    if (call.from < busyUntil) findings.push({ kind: 'overlap', at })
    busyUntil = Math.max(busyUntil, call.to)
    if (call.method !== 'GET') {
      const meaning = meaningOf(call)
      if (known.mustLookUp) findings.push({ kind: 'no-lookup', at })
      else if (!isCalledFor(call, known)) findings.push({ kind: 'repeated', at })
      const lied = meaning === 'refused' ? true : meaning === 'done' ? false : null
      if (lied !== null && call.carriedOut === lied) findings.push({ kind: 'lie', at })
    }
    known = learn(known, call)
  }
  return findings
}

/** A lookup tells all but what no GET shows. A claim that is under way when an ending comes late has looked already. */
function lapsed(known: Known, { why }: Lapse): Known {
  return { ...known, hidden: true, mustLookUp: known.mustLookUp || why === 'lapsed' }
}

type Meaning = 'done' | 'refused' | 'unclear' | 'unknown' | 'not-sent'

function meaningOf({ heard }: JournaledCall): Meaning {
  if (heard.kind === 'nothing') return heard.reached === 'no' ? 'not-sent' : 'unknown'
  const { status, body } = heard
  if (SURE.has(status)) return 'refused'
  const taken = status >= 200 && status < 300
  if (taken && (body === 'null' || body === 'other')) return 'unclear'
  const says = body === 'none' || body === 'readable' || body === 'user'
  return taken && says ? 'done' : 'unknown'
}

/** Whether some of it is not there already, as far as the caller knows, or a sure refusal came before it. */
function isCalledFor({ method, body }: JournaledCall, known: Known): boolean {
  if (method === 'POST') return known.there !== true
  const carried = body ?? {}
  if (known.hidden && Object.hasOwn(carried, UNVERIFIABLE_FIELD)) return true
  if (known.refused && isPartOf(carried, known.refused)) return true
  const fields = method === 'PUT' ? ALL : ALL.filter((field) => Object.hasOwn(carried, field))
  return fields.some((field) => !isThere(field, carried, known.values[field]))
}

const ALL: readonly Field[] = ['status', ...OPTIONAL_FIELDS]

function isThere(field: Field, body: Body, known: Knowledge | undefined): boolean {
  if (!known) return false
  if ('sent' in known) return bare(body[field]) === bare(known.sent)
  if (field === 'status') return Number(body.status) === known.shown.status
  return field !== UNVERIFIABLE_FIELD && sameField(field as ComparableField, body, known.shown.fields)
}

/** Null, an empty text and nothing at all are alike. */
function bare(value: unknown): unknown {
  return value === undefined || value === '' ? null : value
}

function isPartOf(part: Body, whole: Body): boolean {
  return Object.entries(part).every(([field, value]) => Object.hasOwn(whole, field) && whole[field] === value)
}

function learn(known: Known, call: JournaledCall): Known {
  return call.method === 'GET' ? learnFromLookup(known, call) : learnFromWrite(known, call)
}

/** A value that no GET shows stays as it was known. */
function learnFromLookup(known: Known, { heard, shown }: JournaledCall): Known {
  const hidden = known.values[UNVERIFIABLE_FIELD]
  const kept = hidden ? { [UNVERIFIABLE_FIELD]: hidden } : {}
  const lookedUp = { ...known, mustLookUp: false, lookedUp: shown !== null }
  if (shown) {
    const seen = ALL.filter((field) => field !== UNVERIFIABLE_FIELD).map((field) => [field, { shown }])
    return { ...lookedUp, there: true, values: { ...Object.fromEntries(seen), ...kept } }
  }
  if (heard.kind === 'nothing') return known
  const absent =
    heard.status === 404 || heard.status === 410 || (heard.status === 200 && heard.body === 'null')
  return absent ? { ...lookedUp, there: false, values: kept } : known
}

function learnFromWrite(known: Known, call: JournaledCall): Known {
  const { method } = call
  const body = call.body ?? {}
  const meaning = meaningOf(call)
  switch (meaning) {
    case 'not-sent':
      return known
    case 'done': {
      const before = method === 'PATCH' ? known.values : valuesOf({})
      const sent = method === 'PATCH' ? pick(valuesOf(body), body) : valuesOf(body)
      const hidden = known.hidden && !Object.hasOwn(body, UNVERIFIABLE_FIELD)
      return { ...NOTHING, there: true, values: { ...before, ...sent }, hidden }
    }
    case 'refused': {
      const status = call.heard.kind === 'answer' ? call.heard.status : 0
      if (method !== 'POST') {
        const there = status === 404 || status === 410 ? false : known.there
        return { ...known, there, refused: body }
      }
      return NOT_HANDLED.has(status) ? known : { ...NOTHING_KNOWN, mustLookUp: true, hidden: known.hidden }
    }
    case 'unclear':
    case 'unknown': {
      const unsure = method === 'PATCH' ? Object.keys(body) : ALL
      const sure = Object.entries(known.values).filter(([field]) => !unsure.includes(field as Field))
      const there = method === 'PATCH' ? known.there : null
      // An update of a user who was just shown may be taken for done.
      const mustLookUp = meaning === 'unknown' || !known.lookedUp || method === 'POST'
      const values = Object.fromEntries(sure)
      return { ...known, there, values, mustLookUp, lookedUp: !mustLookUp, refused: null }
    }
    default:
      return meaning satisfies never
  }
}

function valuesOf(body: Body): Readonly<Partial<Record<Field, Knowledge>>> {
  return Object.fromEntries(ALL.map((field) => [field, { sent: body[field] ?? null }]))
}

function pick<T extends object>(from: T, names: Body): T {
  return Object.fromEntries(Object.entries(from).filter(([name]) => Object.hasOwn(names, name))) as T
}
