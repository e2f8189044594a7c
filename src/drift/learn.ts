// Whether a difference is the service's own form of what we write. Pure.
import type { Learnt } from '../sync/learnt.ts'
import type { DriftField } from './words.ts'

/** By field: the digest of the form that the service shows, and how often it came back after a write of ours. */
export type Forms = Readonly<Partial<Record<DriftField, readonly [form: string, times: number]>>>

/** A field that differs, as a look has shown it; digests only. */
export type SeenField = {
  /** Of the form that the service shows. */
  readonly form: string
  /** Of what is desired. */
  readonly exact: string
  /** What is desired was acknowledged since the difference was stored: a GET that differs takes that mark away. */
  readonly written: boolean
}
export type Seen = Readonly<Partial<Record<DriftField, SeenField>>>

/** So often must a form have come back before it counts as the service's own. */
const ENOUGH_TIMES = 2

/**
 * A form that came back after a write is counted; another form begins anew. The status has none: whether somebody has
 * access is never a matter of form, and what is not written shows nothing of what the service makes of it.
 */
export function formsAfter(
  { forms, looks }: { readonly forms: Forms; readonly looks: number },
  seen: Seen,
): Forms {
  const entries = Object.entries(seen) as readonly (readonly [DriftField, SeenField])[]
  return Object.fromEntries(
    entries.map(([field, { form, written }]) => {
      const [before, times] = forms[field] ?? [null, 0]
      if (before !== form) return [field, [form, 0]]
      // At the second look nothing was stored yet that a write could have taken away.
      return [field, [form, times + (written && looks >= 2 ? 1 : 0)]]
    }),
  )
}

/** Of the fields that differ those whose form is the service's own by now. */
export function learntBy(forms: Forms, seen: Seen): Learnt {
  const entries = Object.entries(seen) as readonly (readonly [DriftField, SeenField])[]
  const own = entries.filter(([field, { form }]) => {
    const [known, times] = forms[field] ?? [null, 0]
    return field !== 'status' && known === form && times >= ENOUGH_TIMES
  })
  return Object.fromEntries(own.map(([field, { exact, form }]) => [field, [exact, form] as const]))
}
