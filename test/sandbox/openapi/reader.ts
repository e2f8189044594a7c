// The kept document as another program would use it: compiled by ajv.
import { readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { FORMATS } from '../../../src/model/formats.ts'

export type Schema = Readonly<Record<string, unknown>>
type Media = { readonly content?: { readonly 'application/json': { readonly schema: Schema } } }
type Operation = {
  readonly operationId: string
  readonly parameters?: readonly { readonly name: string; readonly schema: Schema }[]
  readonly requestBody?: Media
  readonly responses: Readonly<Record<string, Media & { readonly $ref?: string }>>
}
type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

export const document = JSON.parse(
  readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8'),
) as Document

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

/** Every operation, with its method and its path. */
export const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item)
    .filter(([method]) => METHODS.includes(method))
    .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
)

/** JSON pointers to every schema: components, parameters, bodies, answers. */
export const pointers = findSchemas(document, '#')

function findSchemas(node: unknown, pointer: string): string[] {
  if (typeof node !== 'object' || node === null) return []
  return Object.entries(node).flatMap(([key, value]) => {
    const at = `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
    return key === 'schema' || pointer === '#/components/schemas' ? [at] : findSchemas(value, at)
  })
}

export const ajv = new Ajv2020({ strict: true, allErrors: true })
addFormats.default(ajv)
ajv.addFormat('idn-email', /^[^\s@]+@[^\s@]+\.[^\s@]+$/u)
ajv.addFormat('dni-nie', isNid)
ajv.addFormat('iso-639-1', (text) => FORMATS.service_language_code.parse(text).ok)
ajv.addFormat('iso-3166-1', (text) => FORMATS.country_code.parse(text).ok)
// Keywords around the schemas do not change what is valid.
ajv.addVocabulary([...Object.keys(document), 'discriminator'])
ajv.addSchema(document, 'document')

const compiled = new Map<string, ValidateFunction>()

export function compile(pointer: string): ValidateFunction {
  const fits = compiled.get(pointer) ?? ajv.compile({ $ref: `document${pointer}` })
  compiled.set(pointer, fits)
  return fits
}

/** Empty when the value fits. */
export function misfits(pointer: string, value: unknown): readonly string[] {
  const fits = compile(pointer)
  return fits(value) ? [] : (fits.errors ?? []).map((error) => `${error.instancePath} ${error.message}`)
}

const LETTERS = 'TRWAGMYFPDXBNJZSQVHLCKE'

/** The letter that the number of a DNI or NIE asks for. */
export function letterOf(number: string): string {
  return LETTERS[Number(number.replace(/^[XYZ]/, (letter) => String('XYZ'.indexOf(letter)))) % 23] ?? ''
}

function isNid(text: string): boolean {
  return /^[XYZ\d]\d{7}[A-Z]$/.test(text) && text.endsWith(letterOf(text.slice(0, -1)))
}
