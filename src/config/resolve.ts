import { createHash } from 'node:crypto'
import * as z from 'zod'
import { RollcallError } from '../model/errors.ts'
import { OPTIONAL_FIELDS } from '../model/user.ts'
import { isRecord } from '../model/values.ts'
import { checkClearing, checkMapping, checkTiming, checkWatch } from './checks.ts'
import { closest } from './closest.ts'
import type { Config } from './config.ts'
import type { RollcallConfig } from './define.ts'
import { type Problem, problemLine, read, unknownKey } from './problems.ts'
import {
  type Customers,
  clearWithSchema,
  customersSchema,
  type Sections,
  settingSchemas,
  watchSchema,
} from './schema.ts'
import { mappingSchema, scopeSchema } from './source.ts'

const SECTIONS = {
  customers: customersSchema,
  watch: watchSchema.optional(),
  mapping: mappingSchema,
  scope: scopeSchema,
  ...settingSchemas,
  clearWith: clearWithSchema,
  mappingVersion: z.union([z.string(), z.number()], 'expected a text or a number').optional(),
} satisfies Record<keyof RollcallConfig, z.ZodType>
const TOP_LEVEL = Object.keys(SECTIONS)
const ADVANCED = Object.keys(settingSchemas.advanced.unwrap().shape)

/** A section that could not be read is left out. */
type Given = { [K in keyof typeof SECTIONS]?: z.output<(typeof SECTIONS)[K]> }

/**
 * The author's object, checked, with every default filled in, and frozen.
 *
 * Sections are read one by one. Rules about several sections are checked where these could be read. So the author of
 * a first configuration sees all mistakes at once.
 *
 * @param raw the file's default export
 * @param file its path, kept in the configuration
 * @param shown how messages name the file
 * @throws RollcallError CONFIG_INVALID with one line for each mistake
 */
export function resolveConfig(raw: unknown, file: string, shown: string = file): Config {
  if (!isRecord(raw))
    throw invalid(shown, [{ path: [], text: 'expected `defineConfig({ … })` as the default export' }])
  const problems: Problem[] = Object.keys(raw)
    .filter((key) => !TOP_LEVEL.includes(key))
    .map((key) => ({ path: [key], text: unknownSection(key) }))

  const given = Object.fromEntries(
    Object.entries(SECTIONS).map(([name, schema]) => [
      name,
      read<unknown>(schema, raw[name], [name], problems),
    ]),
  ) as Given
  const { customers, mapping, scope, clearWith, advanced, mappingVersion, ...settings } = given
  const watch = raw.watch === undefined ? ownWatch(customers, problems) : given.watch

  if (customers !== undefined && watch !== undefined) problems.push(...checkWatch(customers, watch))
  if (mapping !== undefined) problems.push(...checkMapping(mapping, customers?.key))
  if (mapping !== undefined && clearWith !== undefined) {
    problems.push(...checkClearing(clearWith, mapping, settings.unmanaged))
  }
  problems.push(...checkTiming(settings.service, advanced?.timing))

  if (problems.length > 0) throw invalid(shown, problems)
  // A section that could not be read has its problem.
  const all = { customers, mapping, scope, clearWith, ...settings, ...advanced, watch } as Sections & Read
  const { isView: _, ...from } = all.customers
  const { strict, unmanaged, onRemove, phonePrefix, createWithoutAccess } = all
  return freezeAll({
    ...all,
    file,
    fullyManaged: OPTIONAL_FIELDS.every((field) => all.mapping[field] !== undefined),
    fingerprint: fingerprintOf({
      ...{ relation: from.relation, key: from.key, mapping: raw.mapping, scope: raw.scope },
      ...{ clearWith, mappingVersion, strict, unmanaged, onRemove, phonePrefix },
      // Left out where it is as it always was: a new setting is no change of the mapping.
      ...(createWithoutAccess ? {} : { createWithoutAccess }),
    }),
    customers: from,
  })
}

type Read = Pick<Config, 'watch' | 'mapping' | 'scope' | 'clearWith'> & { readonly customers: Customers }

/** A name out of `advanced` is suggested with its path. */
function unknownSection(key: string): string {
  const meant = closest(key, [...TOP_LEVEL, ...ADVANCED])
  const isAdvanced = meant !== undefined && ADVANCED.includes(meant)
  return isAdvanced ? `unknown name; did you mean advanced.${meant}?` : unknownKey(key, TOP_LEVEL)
}

function ownWatch(customers: Customers | undefined, problems: Problem[]): Config['watch'] | undefined {
  if (!customers?.isView) return customers && [{ relation: customers.relation, key: customers.key }]
  const text =
    'expected the tables behind the view, with the columns that hold the customer key: [{ table, key }]'
  problems.push({ path: ['watch'], text })
  return undefined
}

function invalid(shown: string, problems: readonly Problem[]): RollcallError {
  return new RollcallError(
    'CONFIG_INVALID',
    problems.map((problem) => `${shown}: ${problemLine(problem)}`),
  )
}

function freezeAll<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const inner of Object.values(value)) freezeAll(inner)
  return Object.freeze(value)
}

/** Raised when a later rollcall makes something else of the same customer and the same configuration. */
const OWN_VERSION = 1

/**
 * Tells whether two configurations make the same calls for the same customer: everything that mapping and plan go by,
 * functions by their text. A function may use other parts of its module, which do not show; `mappingVersion` is
 * there for that.
 */
function fingerprintOf(parts: Readonly<Record<string, unknown>>): string {
  const text = JSON.stringify([OWN_VERSION, canonical(parts)])
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}

/** Keys in one order, since the order in which an author writes them says nothing. */
function canonical(value: unknown): unknown {
  if (typeof value === 'function') return { function: String(value) }
  if (typeof value === 'bigint') return { bigint: String(value) }
  if (Array.isArray(value)) return value.map(canonical)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined)
  return Object.fromEntries(
    entries.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([k, inner]) => [k, canonical(inner)]),
  )
}
