// Faults on demand: which rule strikes a call. What striking means is done in serve.ts.
import { z } from 'zod'
import { OPTIONAL_FIELDS } from '../model/user.ts'

const match = z.strictObject({
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH']).optional(),
  userId: z.string().optional(),
  /** The `status` in the body. */
  status: z.number().int().optional(),
  /** A field that the body names, whatever it holds. */
  field: z.enum(OPTIONAL_FIELDS).optional(),
})

const milliseconds = z.number().int().min(0).max(600_000)

const retryAfter = z.strictObject({
  form: z.enum(['seconds', 'date']),
  seconds: z.number().int().min(0).max(86_400),
})

const action = z.discriminatedUnion('kind', [
  /** Waits between the two before anything else is done; other rules may strike after it. */
  z.strictObject({ kind: z.literal('latency'), minMs: milliseconds, maxMs: milliseconds }),
  /** Answers so, without looking at the call, or (`stored`) after having carried it out. */
  z.strictObject({
    kind: z.literal('status'),
    status: z.number().int().min(200).max(599),
    body: z.enum(['json', 'html', 'empty']).default('json'),
    stored: z.boolean().default(false),
    retryAfter: retryAfter.optional(),
  }),
  /** The connection is cut before the call is carried out. */
  z.strictObject({ kind: z.literal('drop-before') }),
  /** The connection is cut after the call was carried out. */
  z.strictObject({ kind: z.literal('drop-after') }),
  /** The call is carried out and never answered. */
  z.strictObject({ kind: z.literal('hang-after') }),
  /** Every connection is cut, as if nobody were there. */
  z.strictObject({ kind: z.literal('down') }),
])

export const faultRule = z.strictObject({
  match: match.default({}),
  /** The share of matching calls that it strikes. */
  rate: z.number().min(0).max(1).default(1),
  /** How many calls it strikes before it is spent; absent: without end. */
  times: z.number().int().min(1).optional(),
  action,
})
/** A rule with its defaults filled in, and as one may write it. */
export type FaultRule = z.output<typeof faultRule>
export type FaultInput = z.input<typeof faultRule>
export type FaultAction = FaultRule['action']
type Ending = Exclude<FaultAction, { kind: 'latency' }>

export type FaultedCall = {
  readonly method: string
  readonly userId: string | null
  readonly body: unknown
}

/** What strikes a call: a wait, and then at most one of the other actions. */
export type Strike = {
  readonly latencyMs: number
  readonly ending: Ending | null
  readonly kinds: readonly string[]
}

export type Faults = {
  list(): readonly (FaultRule & { readonly struck: number })[]
  /** Replaces all rules; throws a ZodError when one is malformed, and then changes nothing. */
  set(rules: readonly FaultInput[]): void
  add(rule: FaultInput): void
  clear(): void
}

export type LiveFaults = Faults & { strike(call: FaultedCall): Strike }

/** @param random between 0 and 1, below 1; seeded, so that a run can be repeated */
export function makeFaults(random: () => number): LiveFaults {
  let live: { readonly rule: FaultRule; struck: number }[] = []
  const parse = (rule: FaultInput) => ({ rule: faultRule.parse(rule), struck: 0 })

  return {
    list: () => live.map(({ rule, struck }) => ({ ...rule, struck })),
    set(rules) {
      live = rules.map(parse)
    },
    add(rule) {
      live.push(parse(rule))
    },
    clear() {
      live = []
    },
    strike(call) {
      let latencyMs = 0
      const kinds: string[] = []
      for (const entry of live) {
        const { rule, struck } = entry
        if (struck >= (rule.times ?? Number.POSITIVE_INFINITY) || !matches(rule.match, call)) continue
        if (rule.rate < 1 && random() >= rule.rate) continue
        entry.struck += 1
        kinds.push(rule.action.kind)
        if (rule.action.kind !== 'latency') return { latencyMs, ending: rule.action, kinds }
        latencyMs += between(rule.action, random)
      }
      return { latencyMs, ending: null, kinds }
    },
  }
}

function matches({ method, userId, status, field }: FaultRule['match'], call: FaultedCall): boolean {
  const body = typeof call.body === 'object' && call.body !== null ? call.body : {}
  return (
    (method === undefined || method === call.method) &&
    (userId === undefined || userId === call.userId) &&
    (status === undefined || ('status' in body && body.status === status)) &&
    (field === undefined || Object.hasOwn(body, field))
  )
}

function between({ minMs, maxMs }: { minMs: number; maxMs: number }, random: () => number): number {
  return minMs + random() * Math.max(0, maxMs - minMs)
}

/** Mulberry32: small, and the same sequence for the same seed on every machine. */
export function seededRandom(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
