// Values that fit the schemas of a request.
import fc from 'fast-check'
import { ajv, letterOf, type Schema } from './reader.ts'

/** A keyword that it does not know is an error, so that nothing is left out unnoticed. */
export function valuesOf(schema: Schema): fc.Arbitrary<unknown> {
  const fits = ajv.compile(schema)
  return made(schema).filter((value: unknown) => fits(value) && isWellFormed(value))
}

const PAIR = fc.stringMatching(/^[a-zA-Z]{2}$/)

const FORMATS: Readonly<Record<string, fc.Arbitrary<string>>> = {
  'idn-email': fc.emailAddress(),
  date: fc
    .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
    .map((date) => date.toISOString().slice(0, 10)),
  'iso-639-1': PAIR.filter(ajv.compile({ type: 'string', format: 'iso-639-1' })),
  'iso-3166-1': PAIR.filter(ajv.compile({ type: 'string', format: 'iso-3166-1' })),
  'dni-nie': fc.stringMatching(/^[XYZ0-9][0-9]{7}$/).map((number) => number + letterOf(number)),
}

/** Left to the check: what they rule out is rare. */
const CHECKED = new Set(['description', 'examples', 'not', 'minLength', 'maxLength', 'additionalProperties'])

function made(schema: Schema): fc.Arbitrary<unknown> {
  const { type, anyOf, enum: values, properties, required, format, pattern, ...rest } = schema
  const unknown = Object.keys(rest).filter((key) => !CHECKED.has(key))
  if (unknown.length > 0) throw new Error(`no values can be made for ${unknown.join()}`)
  if (Array.isArray(anyOf)) return fc.oneof(...(anyOf as Schema[]).map(made))
  if (Array.isArray(values)) return fc.constantFrom<unknown[]>(...values)
  if (type === 'object') return objects(properties as Schema, required)
  const types = Array.isArray(type) ? type : [type]
  return fc.oneof(...types.map((each) => (each === 'null' ? fc.constant(null) : texts(format, pattern))))
}

function objects(properties: Schema, required: unknown): fc.Arbitrary<unknown> {
  const fields = Object.entries(properties).map(([name, schema]) => [name, made(schema as Schema)])
  return fc.record(Object.fromEntries(fields), { requiredKeys: required as never[] })
}

function texts(format: unknown, pattern: unknown): fc.Arbitrary<string> {
  if (typeof format === 'string') return FORMATS[format] ?? expectFormat(format)
  return typeof pattern === 'string'
    ? fc.stringMatching(new RegExp(pattern, 'u'))
    : fc.string({ unit: 'grapheme' })
}

function expectFormat(format: string): never {
  throw new Error(`no values can be made for the format ${format}`)
}

/** Half a surrogate pair cannot be sent in UTF-8. */
function isWellFormed(value: unknown): boolean {
  return typeof value !== 'object' || value === null
    ? typeof value !== 'string' || value.isWellFormed()
    : Object.values(value).every(isWellFormed)
}
