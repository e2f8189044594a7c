// components/schemas of the OpenAPI document, made from the zod schemas that the sandbox and the client use.
import { z } from 'zod'
import {
  fileMessage,
  imageMessage,
  message,
  professional,
  room,
  schedule,
  textMessage,
} from '../../service/chat-schema.ts'
import { createBody, retrievedUser, updateBody } from '../../service/schema.ts'
import { errorWire } from '../error-schema.ts'

const COMPONENTS = {
  CreateUser: createBody,
  UpdateUser: updateBody,
  User: retrievedUser,
  Message: message,
  TextMessage: textMessage,
  ImageMessage: imageMessage,
  FileMessage: fileMessage,
  Professional: professional,
  Schedule: schedule,
  Room: room,
  Error: errorWire,
} as const satisfies Readonly<Record<string, z.ZodType>>
export type ComponentName = keyof typeof COMPONENTS

export type JsonSchema = Readonly<Record<string, unknown>>

export function ref(name: ComponentName): { readonly $ref: string } {
  return { $ref: `#/components/schemas/${name}` }
}

/** One for each name; where one stands in another it is a reference. */
export function componentSchemas(): Readonly<Record<string, JsonSchema>> {
  const registry = z.registry<{ id: ComponentName }>()
  for (const [id, schema] of Object.entries(COMPONENTS)) registry.add(schema, { id: id as ComponentName })
  const { schemas } = z.toJSONSchema(registry, {
    uri: (id) => ref(id as ComponentName).$ref,
    override: ({ jsonSchema }) => plain(jsonSchema),
  })
  const entries = Object.entries(schemas).map(([id, { $schema, $id, ...schema }]) => [id, schema])
  return withDiscriminator(Object.fromEntries(entries))
}

/** The JSON Schema of one zod schema by itself, for a parameter. */
export function inlineSchema(schema: z.ZodType): JsonSchema {
  const { $schema, ...rest } = z.toJSONSchema(schema, { override: ({ jsonSchema }) => plain(jsonSchema) })
  return rest
}

/** Says `integer` where zod says `number`, and leaves out the bounds of JavaScript's own integers. */
function plain(schema: z.core.JSONSchema.BaseSchema): void {
  if (schema.type === 'number' && schema.enum?.every(Number.isInteger)) schema.type = 'integer'
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
}

/** Says by which property a message's type is told. */
function withDiscriminator(schemas: Readonly<Record<string, JsonSchema>>) {
  const mapping = {
    text: ref('TextMessage').$ref,
    image: ref('ImageMessage').$ref,
    file: ref('FileMessage').$ref,
  }
  return { ...schemas, Message: { ...schemas.Message, discriminator: { propertyName: 'type', mapping } } }
}
