// What several sections of a configuration must agree on.
import { OPTIONAL_FIELDS, type OptionalField } from '../model/user.ts'
import type { Config, FieldSource, Watched } from './config.ts'
import type { ClearWith } from './define.ts'
import type { Problem } from './problems.ts'
import type { Mapping } from './reading.ts'
import { sameRelation } from './relation.ts'

/** Where customers are found; a view has no changes of its own. */
export type Customers = Config['customers'] & {
  readonly isView: boolean
}

export function checkWatch(customers: Customers, watch: readonly Watched[]): Problem[] {
  const problems: Problem[] = []
  const { relation, key, isView } = customers
  for (const [index, watched] of watch.entries()) {
    if (watch.slice(0, index).some((earlier) => sameRelation(earlier.relation, watched.relation))) {
      problems.push({ path: ['watch', index, 'table'], text: 'expected each table once' })
    }
    if (watched.key.length !== key.length) {
      const text = `expected ${count(key)}, as many as customers.key has (${key.join(', ')})`
      problems.push({ path: ['watch', index, 'key'], text })
    }
    if (isView && sameRelation(watched.relation, relation)) {
      const text = 'expected a table: a view has no changes of its own, name the tables behind it'
      problems.push({ path: ['watch', index, 'table'], text })
    }
  }
  if (!isView && !watch.some((watched) => sameRelation(watched.relation, relation))) {
    const text = 'expected the customer table among the watched ones: its own changes would be missed'
    problems.push({ path: ['watch'], text })
  }
  return problems
}

/**
 * A customer whose row is deleted still has to be revoked, and then the key is all that is left. Therefore
 * the `user_id` may depend on nothing else.
 */
export function checkMapping(mapping: Mapping, key: readonly string[] | undefined): Problem[] {
  const source: FieldSource | undefined = mapping.user_id
  if (source === undefined || key === undefined) return []
  const path = ['mapping', 'user_id']
  const others = source.columns.filter((column) => !key.includes(column))
  if (others.length > 0) {
    const text = `expected key columns only (${key.join(', ')}), because a deleted row cannot be asked; found ${others.join(', ')}`
    return [{ path, text }]
  }
  if (source.columns.length === 0) {
    return [{ path, text: `expected a key column (${key.join(', ')}): all customers would be one user` }]
  }
  return []
}

/** Only a PUT clears what it leaves out; a PATCH keeps it. */
export function checkClearing(
  clearWith: Readonly<Record<OptionalField, ClearWith>>,
  mapping: Mapping,
  unmanaged: Config['unmanaged'] | undefined,
): Problem[] {
  const omitted = OPTIONAL_FIELDS.filter((field) => clearWith[field] === 'omit')
  const missing = OPTIONAL_FIELDS.filter((field) => mapping[field] === undefined)
  if (unmanaged !== 'keep' || omitted.length === 0 || missing.length === 0) return []
  const text = `'omit' (${omitted.join(', ')}) needs full updates: map every field (missing: ${missing.join(', ')}) or set unmanaged to 'clear'`
  return [{ path: ['clearWith'], text }]
}

/**
 * A request that outlives its claim could overtake the next one, so the claim must last longer. And it must have room
 * for a GET and a write that take their whole timeout: what a GET has shown is void in the next claim, which would
 * look again, and never write.
 */
export function checkTiming(service?: Config['service'], timing?: Config['timing']): Problem[] {
  const problems: Problem[] = []
  if (service !== undefined && timing !== undefined) {
    const least = leastLifetimeMs(service.timeoutMs)
    if (timing.lifetimeMs < least) {
      const text = `expected at least ${least}: twice service.timeoutMs (${service.timeoutMs}), for a GET and a write, and a grace of 2000 or of service.timeoutMs, whichever is less; found ${timing.lifetimeMs}`
      problems.push({ path: ['timing', 'lifetimeMs'], text })
    }
  }
  // The look after an unknown outcome comes when the lifetime has passed, and must be believable then.
  if (timing !== undefined && timing.lifetimeMs < timing.consistencyDelayMs) {
    const text = `expected at most timing.lifetimeMs (${timing.lifetimeMs}); found ${timing.consistencyDelayMs}`
    problems.push({ path: ['timing', 'consistencyDelayMs'], text })
  }
  if (timing !== undefined && timing.retryMaxMs < timing.retryMinMs) {
    const text = `expected at least timing.retryMinMs (${timing.retryMinMs}); found ${timing.retryMaxMs}`
    problems.push({ path: ['timing', 'retryMaxMs'], text })
  }
  return problems
}

/** Two seconds of grace in earnest; for short timeouts, as tests have them, as long as the timeout itself. */
function leastLifetimeMs(timeoutMs: number): number {
  return 2 * timeoutMs + Math.min(timeoutMs, 2000)
}

function count(columns: readonly string[]): string {
  return columns.length === 1 ? 'one column' : `${columns.length} columns`
}
