// The interface as an OpenAPI 3.1 document, made from the routes and the zod schemas that stand on them. The sandbox
// serves it, docs/openapi.json keeps it.
import * as z from 'zod'
import { message, professional } from '../service/chat-schema.ts'
import { createBodySchema, retrievedUser, updateBody } from '../service/schema.ts'
import { errorWire } from './answer.ts'
import { CHAT_ROUTES } from './chat/chat.ts'
import type { Refusal, Route } from './serve.ts'
import { USER_ROUTES } from './users/routes.ts'

/** The version of the interface, not of the package: server-to-server paths carry `v1` (section 9). */
const INTERFACE_VERSION = '1.0.0'

type JsonSchema = Readonly<Record<string, unknown>>

const ABOUT = `The chat read endpoints and the server-to-server user endpoints.

This document is made from rollcall's own schemas: its client sends by them and its sandbox answers by them. Numbers in
brackets are sections of the service's interface document. That document does not show the answers to create and
update, any error, which query parameters are required, or limits. They are the **sandbox's choice** here: the service
may answer otherwise, and so may the sandbox under another contract.

Faults may answer any call with any status, and are not listed. Neither are requests that HTTP itself forbids (400, 408,
413, 417, 431).`

/** Section 5, by the first part of the path. */
const GROUPS = {
  chat: {
    tag: 'Chat',
    description: 'What an authenticated end user reads (sections 4.1 and 4.2); on production only.',
    security: [{ ApiKey: [], AccessToken: [] }],
  },
  s2s: {
    tag: 'Server-to-server',
    description: "What the integrator's backend does with its users (sections 4.3 to 4.6).",
    security: [{ ApiKey: [], SecretKey: [] }],
  },
} as const

const header = (name: string, description: string) => ({ type: 'apiKey', in: 'header', name, description })
const SECURITY: JsonSchema = {
  ApiKey: header('Api-Key', 'Integration identifier, supplied by the provider.'),
  SecretKey: header('Secret-Key', 'Security key, supplied by the provider; for the backend alone.'),
  AccessToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'Access token of an end user. How to get one is not shown; here: POST /_sandbox/tokens.',
  },
}

const REFUSALS: Readonly<Record<Refusal, string>> = {
  400: 'The address, the query or the body cannot be read.',
  401: 'Credentials are missing, wrong or expired (section 5).',
  403: 'Status 0 or a trial that is over (section 3, fact 2); or a user that the contract forbids.',
  404: 'There is no such user; or the user has no such room, or the room no such pivot message.',
  409: 'The `user_id` is in use; or another user has the e-mail address and the contract forbids it.',
  410: 'As 404, where the contract says so.',
  413: 'The body is larger than 64 KiB.',
  422: 'The body is JSON, but does not fit section 2.6.',
}

const COMPONENTS: Readonly<Record<string, z.ZodType>> = {
  CreateUser: createBodySchema,
  UpdateUser: updateBody,
  User: retrievedUser,
  Message: message,
  Professional: professional,
  Error: errorWire,
}

const PRODUCTION = server('base_url', 'Production.')
const DEMO = server('demo_base_url', 'Development (demo): server-to-server only.')

/** @param serverUrl the only server; by default those of the interface document, for the reader to fill in */
export function makeOpenApi(serverUrl?: string): JsonSchema {
  const paths: Record<string, JsonSchema> = {}
  for (const route of [...CHAT_ROUTES, ...USER_ROUTES]) {
    const group = route.path.startsWith('/chat/') ? 'chat' : 's2s'
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}')
    const servers = group === 'chat' && serverUrl === undefined ? { servers: [PRODUCTION] } : {}
    paths[path] = { ...servers, ...paths[path], [route.method.toLowerCase()]: operation(route, group) }
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Legal Consultation Service, as rollcall knows it',
      version: INTERFACE_VERSION,
      description: ABOUT,
      contact: { name: 'rollcall' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: serverUrl === undefined ? [PRODUCTION, DEMO] : [{ url: serverUrl, description: 'The sandbox.' }],
    tags: Object.values(GROUPS).map(({ tag, description }) => ({ name: tag, description })),
    paths,
    components: {
      securitySchemes: SECURITY,
      schemas: componentSchemas(),
      responses: Object.fromEntries(
        Object.entries(REFUSALS).map(([status, description]) => [
          `Refused${status}`,
          { description, ...content(errorWire) },
        ]),
      ),
    },
  }
}

function operation(route: Route, group: keyof typeof GROUPS): JsonSchema {
  const { operationId, summary, description, params, query, body, status, returns, refusals } = route
  const parameters = [...parametersOf('path', params), ...parametersOf('query', query)]
  const responses: Record<number, JsonSchema> = {
    [status]: { description: 'The call was carried out.', ...content(returns) },
  }
  for (const each of refusals) responses[each] = { $ref: `#/components/responses/Refused${each}` }
  return {
    operationId,
    summary,
    description,
    tags: [GROUPS[group].tag],
    security: GROUPS[group].security,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body === undefined ? {} : { requestBody: { required: true, ...content(body) } }),
    responses,
  }
}

function content(schema: z.ZodType): JsonSchema {
  return { content: { 'application/json': { schema: schemaOf(schema) } } }
}

/** A reference where the schema is a component. */
function schemaOf(schema: z.ZodType): JsonSchema {
  const [name] = Object.entries(COMPONENTS).find(([, component]) => component === schema) ?? []
  if (name !== undefined) return { $ref: refTo(name) }
  if (schema instanceof z.ZodArray) return { type: 'array', items: schemaOf(schema.element as z.ZodType) }
  throw new Error('a body that is no component')
}

function refTo(name: string): string {
  return `#/components/schemas/${name}`
}

function parametersOf(where: 'path' | 'query', schema: z.ZodObject | undefined): readonly JsonSchema[] {
  if (schema === undefined) return []
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: 'input', override: makePlain })
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...rest } = property as JsonSchema
    return { name, in: where, description, schema: rest, required: required.includes(name) }
  })
}

/** One for each component; where one stands in another it is a reference. */
function componentSchemas(): JsonSchema {
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries(COMPONENTS)) registry.add(schema, { id })
  const { schemas } = z.toJSONSchema(registry, { uri: refTo, override: makePlain })
  return Object.fromEntries(Object.entries(schemas).map(([id, { $schema, $id, ...schema }]) => [id, schema]))
}

/** Says `integer` where zod says `number`, and leaves out the bounds of JavaScript's own integers. */
function makePlain({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.type === 'number' && jsonSchema.enum?.every(Number.isInteger)) jsonSchema.type = 'integer'
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
}

/** The provider supplies the base addresses. */
function server(name: string, description: string): JsonSchema {
  const variables = { [name]: { default: `https://${name.replaceAll('_', '-')}.invalid` } }
  return { url: `{${name}}`, description, variables }
}
