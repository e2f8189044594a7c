// A claim as a conversation, without a service: the calls that it makes to given answers, and how it ends.
import { expect } from 'vitest'
import type { OptionalField } from '../../src/model/user.ts'
import { absorb } from '../../src/sync/absorb.ts'
import { classified } from '../../src/sync/call.ts'
import type { Outcome } from '../../src/sync/classify.ts'
import type { Mapped } from '../../src/sync/map.ts'
import { inViewOf, type Memory, NO_CALLS } from '../../src/sync/memory.ts'
import { type ClaimEnd, nextPlan, resultOfCalls } from '../../src/sync/next-plan.ts'
import { callFor } from '../../src/sync/plan.ts'
import type { Policy } from '../../src/sync/write.ts'
import { ABSENT, digests, KEEP, user } from './plan-scene.ts'

export { ABSENT, digests, user }
export const POLICY = KEEP
export const exact = digests.exact
export const PREMIUM: Memory = {
  ...ABSENT,
  remote: 'present',
  sentStatus: 2,
  sent: { email: exact('email', 'a@x.es') },
}
export const UNKNOWN: Memory = { ...PREMIUM, remote: 'unknown' }

export const REMOVED: Mapped = { kind: 'removed', userId: 'u7' }

/** An answer: a status, a user that a GET shows, or a failure that did or did not reach the service. */
export type Answer =
  | number
  | { readonly user: Readonly<Record<string, unknown>> }
  | 'not-sent'
  | 'lost'
  | { readonly retryAfterMs: number; readonly status: number }
  /** A refusal that names fields. */
  | { readonly named: readonly OptionalField[]; readonly status: number; readonly conflict?: boolean }
  /** 200 with JSON null. */
  | 'null'
  /** 200 with a user, but another one, or with another status than was written. */
  | 'other'

export function outcomeOf(answer: Answer): Outcome {
  if (answer === 'not-sent') return { kind: 'error', error: 'refused', reached: 'no' }
  if (answer === 'lost') return { kind: 'error', error: 'timeout', reached: 'maybe' }
  if (answer === 'null' || answer === 'other') return { kind: 'reply', status: 200, body: answer }
  if (typeof answer === 'number') return { kind: 'reply', status: answer, body: 'none' }
  if ('user' in answer) return { kind: 'reply', status: 200, body: 'user' }
  if ('named' in answer) return { kind: 'reply', status: answer.status, body: 'error' }
  return { kind: 'reply', body: 'none', ...answer }
}

type Playing = { readonly lookupAfterMs?: number; readonly policy?: Policy; readonly accessFirst?: boolean }

/** The memory at the end of a claim, as the next one would begin with it, and the result of the calls. */
type After = Pick<Memory, 'erasure'> & ReturnType<typeof resultOfCalls> & { readonly memory: Memory }

function afterCalls(memory: Memory): After {
  return { memory: { ...memory, ...NO_CALLS }, erasure: memory.erasure, ...resultOfCalls(memory) }
}

/** Plays one claim to its end; running out of answers is an error. */
export function play(
  mapped: Mapped,
  before: Memory,
  answers: readonly Answer[],
  { lookupAfterMs = 0, policy = KEEP, accessFirst = false }: Playing = {},
): { calls: string[]; end: ClaimEnd; after: After } {
  const left = [...answers]
  const calls: string[] = []
  let memory = inViewOf(before, { mapped, record: { userId: 'u7', remote: before.remote }, digests })
  const times = { lookupAfterMs, consistencyDelayMs: 5000 }
  const situation = { mapped, claimants: [], policy, digests, ...times, accessFirst }
  for (;;) {
    const next = nextPlan(memory, situation)
    if ('end' in next) {
      expect(left).toEqual([])
      return { calls, end: next.end, after: afterCalls(memory) }
    }
    const { plan } = next
    const call = callFor(plan)
    calls.push('body' in call ? `${call.method} ${JSON.stringify(call.body)}` : call.method)
    const answer = left.shift()
    if (answer === undefined) throw new Error(`no answer to ${calls.join(', ')}`)
    const outcome = outcomeOf(answer)
    const status = outcome.kind === 'reply' ? outcome.status : null
    const named: readonly OptionalField[] =
      typeof answer === 'object' && 'named' in answer ? answer.named : []
    const conflict = status === 409 || (typeof answer === 'object' && 'conflict' in answer)
    const remote =
      typeof answer === 'object' && 'user' in answer
        ? { userId: 'u7', status: Number(answer.user.status), fields: answer.user }
        : null
    const called = classified(call.method, remote, { outcome, named, conflict, shape: null, durationMs: 0 })
    const step = absorb(memory, { plan, called }, situation)
    memory = step.memory
    if (step.end) {
      expect(left).toEqual([])
      return { calls, end: step.end, after: afterCalls(memory) }
    }
  }
}

export const SETTLED = { kind: 'settle', state: 'idle', reason: null }
