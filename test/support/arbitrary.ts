// Customers, services and troubles for property tests of the pure core.
import fc from 'fast-check'
import type { Row } from '../../src/config/config.ts'
import type { RollcallConfig } from '../../src/config/define.ts'
import { OPTIONAL_FIELDS, type OptionalField } from '../../src/model/user.ts'
import type { Fault, Habits } from './pure-service.ts'

const unit = fc.nat(0x10ffff).map((code) => String.fromCodePoint(code))

/** The library's own unit for this takes more than a second to begin with. */
export const anyText = fc.oneof(
  fc.string(),
  fc.string({ unit }).filter((text) => text.isWellFormed()),
)

/** A value that `refusing` services do not take, and one that the mapping leaves out. */
export const REFUSED = 'refused'

const VALUES: Readonly<Record<OptionalField, readonly (string | null)[]>> = {
  email: ['ana@correo.es', 'Ana@Correo.es', 'luis@correo.es', 'no address', null],
  nid_number: ['12345678Z', '12.345.678-z', 'X1234567L', '12345678A', null],
  first_name: ['Ana', 'ana', 'Jose\u0301', 'José', REFUSED, null],
  last_name: ['Gil', 'Gil Soto', REFUSED, null],
  gender: ['0', '1', 'x', null],
  birthdate: ['1980-02-29', '1991-12-31', '1980-02-30', null],
  mobile_phone: ['600111222', '600 111 333', '+34600111222', '0034600111444', '12', null],
  mobile_phone_prefix: ['34', '+34', '351', null],
  coverage_name: ['gold', 'silver', null],
  contract_number: ['C-1', 'C-2', null],
  service_language_code: ['es', 'ES', 'ca', 'xx', null],
  description: ['a note', REFUSED, '', null],
  country_code: ['ES', 'es', 'PT', 'ZZ', null],
  ml_group_name: ['north', 'south', null],
  md_group_name: ['m1', null],
}

/** Without a value that `refusing` services do not take. */
export function plainValues(field: OptionalField): readonly (string | null)[] {
  return VALUES[field].filter((value) => value !== REFUSED)
}

const PLANS = ['free', 'premium', 'trial']

type RowOptions = { readonly plans?: readonly string[]; readonly values?: typeof plainValues }

export function rowOf({
  plans = PLANS,
  values = (field) => VALUES[field],
}: RowOptions = {}): fc.Arbitrary<Row> {
  const columns = OPTIONAL_FIELDS.map((field) => [field, fc.constantFrom(...values(field))] as const)
  return fc.record({ id: fc.constant('7'), plan: fc.constantFrom(...plans), ...Object.fromEntries(columns) })
}

/** The customer's row, or none; `gold` is a plan that the mapping does not know. */
export const customerRow: fc.Arbitrary<Row | null> = fc.oneof(
  { weight: 6, arbitrary: rowOf() },
  { weight: 1, arbitrary: rowOf({ plans: ['gold'] }) },
  { weight: 1, arbitrary: fc.constant(null) },
)

export const managedFields: fc.Arbitrary<OptionalField[]> = fc.oneof(
  fc.constant<OptionalField[]>([...OPTIONAL_FIELDS]),
  fc.subarray<OptionalField>([...OPTIONAL_FIELDS]),
)

type Settings = Pick<RollcallConfig, 'unmanaged' | 'clearWith' | 'phonePrefix'>

/** Whatever a configuration may say: leaving fields out to clear them needs full updates. */
export function settingsFor(fields: readonly OptionalField[]): fc.Arbitrary<Settings> {
  const phonePrefix = fc.constantFrom('digits' as const, 'plus' as const)
  const clearing = ['null', 'empty', 'omit'] as const
  const clear = fc.record({
    unmanaged: fc.constant('clear' as const),
    clearWith: fc.constantFrom(...clearing),
    phonePrefix,
  })
  const clearWith =
    fields.length === OPTIONAL_FIELDS.length ? fc.constantFrom(...clearing) : fc.constantFrom('null', 'empty')
  const keep = fc.record({ unmanaged: fc.constant('keep' as const), clearWith, phonePrefix })
  return fc.oneof(keep, clear) as fc.Arbitrary<Settings>
}

export const refusing: Habits['refuses'] = (_field, value) => value === REFUSED

const json = (value: unknown) => ({ kind: 'json' as const, value })
const NAMELESS = [json({ error: 'Conflict' }), json({ code: 'DUPLICATE_VALUE' })]
const NAMING = [
  json({ message: 'email has already been taken' }),
  json({ errors: { email: ['is not unique'] } }),
  json({ errors: [{ field: 'email', code: 'already_exists' }] }),
  json({ type: 'about:blank', title: 'Conflict', detail: 'The email is in use.', status: 409 }),
]

/** A 409 alone says too that another user has the value, also with text or a page. */
export const CONFLICTS: readonly NonNullable<Habits['taken']>[] = [
  ...[{ kind: 'none' } as const, { kind: 'unreadable' } as const, json({}), json({ error: 'no' })].map(
    (body) => ({ status: 409, body }),
  ),
  ...[400, 409, 422].flatMap((status) => [...NAMELESS, ...NAMING].map((body) => ({ status, body }))),
]

export const habits: fc.Arbitrary<Habits> = fc.record({
  duplicate: fc.constantFrom<Habits['duplicate'][]>(400, 409, 422, 500, 'upsert'),
  notThere: fc.constantFrom<Habits['notThere'][]>(404, 410, 'null'),
  joinsPhone: fc.boolean(),
  statusAsText: fc.boolean(),
  nothing: fc.constantFrom('null', 'empty', 'absent'),
  answers: fc.constantFrom('none', 'object', 'user', 'null'),
  refuses: fc.constantFrom(refusing, () => false),
  refusal: fc.constant(422 as const),
  taken: fc.constant(null),
})

const wait = fc.constantFrom(undefined, 0, 5000)
const answer = (
  statuses: readonly number[],
  applied: fc.Arbitrary<boolean>,
  body?: Fault & { kind: 'answer' },
) =>
  fc.record({ status: fc.constantFrom(...statuses), applied, retryAfterMs: wait }).map(
    ({ retryAfterMs, ...rest }): Fault => ({
      kind: 'answer',
      ...rest,
      ...(body?.body ? { body: body.body } : {}),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    }),
  )

const unreadable: Fault & { kind: 'answer' } = {
  kind: 'answer',
  status: 200,
  applied: true,
  body: { kind: 'unreadable' },
}
const reporting: Fault & { kind: 'answer' } = {
  ...unreadable,
  body: { kind: 'json', value: { success: false } },
}

/** A sure refusal was not carried out; everything else may have been. */
const anyway: fc.Arbitrary<Fault> = fc.oneof(
  fc.constant<Fault>({ kind: 'not-sent' }),
  fc.record({ kind: fc.constantFrom('lost' as const, 'killed' as const), applied: fc.boolean() }),
  answer([301, 304, 408, 418, 500, 502, 503, 504], fc.boolean()),
  answer([401, 403, 429], fc.constant(false)),
  answer([200], fc.boolean(), unreadable),
  answer([200, 202], fc.boolean(), reporting),
)

/** A refusal that is not about anything: a gateway that knows no path, a validation out of order. */
const groundless: fc.Arbitrary<Fault> = answer([400, 404, 409, 410, 422], fc.constant(false))

/** Everything that may go wrong while the service judges by what it was sent. */
export const fault = anyway
/** The service also refuses what it has no reason to. */
export const anyFault: fc.Arbitrary<Fault> = fc.oneof(
  { weight: 5, arbitrary: anyway },
  { weight: 2, arbitrary: groundless },
)
/** As any fault, except that the service never denies a user that exists. */
export const faultWithoutDenial = anyFault.filter(
  (each) => each.kind !== 'answer' || (each.status !== 404 && each.status !== 410),
)
