// Rules that concern several sections of a configuration.
import { OPTIONAL_FIELDS, type OptionalField } from '../model/user.ts'
import type { Config, FieldSource, Watched } from './config.ts'
import type { ClearWith } from './define.ts'
import type { Path, Problem } from './problems.ts'
import { type Relation, sameRelation } from './relation.ts'
import type { Customers } from './schema.ts'
import type { Mapping } from './source.ts'

function wrong(isWrong: boolean, path: Path, text: string): Problem[] {
  return isWrong ? [{ path, text }] : []
}

export function checkWatch({ relation, key, isView }: Customers, watch: readonly Watched[]): Problem[] {
  const many = key.length === 1 ? 'one column' : `${key.length} columns`
  const keys = `expected ${many}, because customers.key has ${key.length} (${key.join(', ')})`
  const view = 'expected the tables behind the view: rollcall cannot watch a view'
  const missed = 'the customer table is missing here: without it, rollcall misses its changes'
  const is = (relation: Relation) => (watched: Watched) => sameRelation(watched.relation, relation)
  const problems = watch.flatMap((watched, index) => [
    ...wrong(
      watch.slice(0, index).some(is(watched.relation)),
      ['watch', index, 'table'],
      'expected each table once',
    ),
    ...wrong(watched.key.length !== key.length, ['watch', index, 'key'], keys),
    ...wrong(isView && is(relation)(watched), ['watch', index, 'table'], view),
  ])
  return [...problems, ...wrong(!isView && !watch.some(is(relation)), ['watch'], missed)]
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
  const foreign = `expected only columns of customers.key (${key.join(', ')}), because after a delete rollcall knows only the key; also found ${others.join(', ')}`
  const constant = `expected a column that customers.key names (${key.join(', ')}): with a fixed value all customers would be one user`
  return [...wrong(others.length > 0, path, foreign), ...wrong(source.columns.length === 0, path, constant)]
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
  const text = `with 'omit' the mapping needs an entry for every field. Add the missing ones (${missing.join(', ')}), or set unmanaged: 'clear'`
  return [{ path: ['clearWith'], text }]
}

/**
 * A request that outlives its claim could overtake the next one, so the claim must last longer. And it must have room
 * for a GET and a write that take their whole timeout: what a GET has shown is void in the next claim, which would
 * look again, and never write.
 */
export function checkTiming(service?: Config['service'], timing?: Config['timing']): Problem[] {
  if (timing === undefined) return []
  const { lifetimeMs, consistencyDelayMs, retryMinMs, retryMaxMs } = timing
  const timeoutMs = service?.timeoutMs ?? 0
  // Two seconds of grace in earnest; for short timeouts, as tests have them, as long as the timeout itself.
  const graceMs = Math.min(timeoutMs, 2000)
  const least = 2 * timeoutMs + graceMs
  const short = `expected at least ${least} (2 × service.timeoutMs + ${graceMs}, for a GET and a write); found ${lifetimeMs}`
  const late = `expected at most advanced.timing.lifetimeMs (${lifetimeMs}); found ${consistencyDelayMs}`
  const fewer = `expected at least advanced.timing.retryMinMs (${retryMinMs}); found ${retryMaxMs}`
  return [
    ...wrong(lifetimeMs < least, ['advanced', 'timing', 'lifetimeMs'], short),
    // The lookup after an unknown outcome comes when the lifetime has passed, and must be credible then.
    ...wrong(lifetimeMs < consistencyDelayMs, ['advanced', 'timing', 'consistencyDelayMs'], late),
    ...wrong(retryMaxMs < retryMinMs, ['advanced', 'timing', 'retryMaxMs'], fewer),
  ]
}
