// Which customers who are rejected, failing or with fields left out are meant, as a condition over the ledger's rows.
/** Which of them: those with a reason (`detail`: its HTTP status or error), those with an issue of a field, or all. */
export type Selector =
  | { readonly kind: 'reason'; readonly code: string; readonly detail: string | null }
  | { readonly kind: 'issue'; readonly field: string; readonly code: string | null }
  | { readonly kind: 'all' }

export const STOPPED = `l.state IN ('rejected', 'failing')`
export const LEFT_OUT = `l.issues <> '[]'`
/** A reason without a code is none of ours; it must not make the group nameless. */
export const CODE = `coalesce(l.reason->>'code', 'unsaid')`

/** Of a reason: what all rows of a group have in common; null where they differ. */
export const common = (name: string) => `
  CASE WHEN min((l.reason->'${name}')::text COLLATE "C") = max((l.reason->'${name}')::text COLLATE "C")
    AND count(l.reason->'${name}') = count(*) THEN min((l.reason->'${name}')::text)::jsonb END`

/** The condition of a selector, over `l`, with `$1` and `$2` as its two values. */
export const WHERE: Readonly<Record<Selector['kind'], string>> = {
  reason: `${STOPPED} AND ${CODE} = $1::text AND ($2::text IS NULL OR $2 IN (l.reason->>'status', l.reason->>'error'))`,
  issue: `l.issues @> jsonb_build_array(jsonb_strip_nulls(jsonb_build_object('field', $1::text, 'code', $2::text)))`,
  all: `(${STOPPED} OR ${LEFT_OUT}) AND coalesce($1::text, $2::text) IS NULL`,
}

export function valuesOf(selector: Selector): [string | null, string | null] {
  switch (selector.kind) {
    case 'reason':
      return [selector.code, selector.detail]
    case 'issue':
      return [selector.field, selector.code]
    case 'all':
      return [null, null]
    default:
      return selector satisfies never
  }
}
