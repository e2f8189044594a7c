// The interface as an OpenAPI 3.1 document. The sandbox serves it, docs/openapi.json keeps it.
import type { FastifyInstance } from 'fastify'
import { errorResponses } from './errors.ts'
import { CHAT_TAG, paths, S2S_TAG } from './paths.ts'
import { componentSchemas, type JsonSchema } from './schemas.ts'

/** Where the sandbox serves it. */
export const OPENAPI_PATH = '/openapi.json'

/**
 * Of the interface and not of the package: server-to-server paths carry `v1` (section 9), and a release of
 * rollcall alone changes nothing here.
 */
export const INTERFACE_VERSION = '1.0.0'

export type OpenApiOptions = {
  readonly version: string
  /** The only server; without it those of the interface document, whose addresses are for the reader to fill in. */
  readonly serverUrl?: string
}

const ABOUT = `The chat read endpoints and the server-to-server user endpoints.

This document is made from rollcall's own schemas, with which its client sends and its sandbox answers; numbers in
brackets are sections of the service's interface document. What that one does not show (answers to create and
update, every error, which query parameters are required, limits) is the **sandbox's choice**: the service itself
may answer otherwise, and so may the sandbox when it is told to.

Faults that the sandbox is asked for may answer any call with any status, and are not listed. Nor is what is no request
of this interface: a head that is too large (431), a body that does not arrive in time (408), and what else HTTP itself
forbids (400, 413, 417), all in the form of \`Error\`.`

/** An OpenAPI document; the same options give the same document. */
export function makeOpenApi({ version, serverUrl }: OpenApiOptions): JsonSchema {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Legal Consultation Service, as rollcall knows it',
      version,
      description: ABOUT,
      contact: { name: 'rollcall' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: serverUrl === undefined ? [PRODUCTION, DEMO] : [{ url: serverUrl, description: 'The sandbox.' }],
    tags: [
      {
        name: CHAT_TAG,
        description: 'What an authenticated end user reads (sections 4.1 and 4.2); on production only.',
      },
      {
        name: S2S_TAG,
        description: "What the integrator's backend does with its users (sections 4.3 to 4.6).",
      },
    ],
    paths: paths(serverUrl === undefined ? { servers: [PRODUCTION] } : {}),
    components: {
      securitySchemes: SECURITY,
      schemas: componentSchemas(),
      responses: errorResponses(),
    },
  }
}

/** GET /openapi.json, without credentials; `url` is asked when it is served, because the port is known late. */
export function addOpenApi(app: FastifyInstance, { url }: { readonly url: () => string }): void {
  app.get(OPENAPI_PATH, () => makeOpenApi({ version: INTERFACE_VERSION, serverUrl: url() }))
}

const PRODUCTION = server('base_url', 'Production.')
const DEMO = server('demo_base_url', 'Development (demo): server-to-server only.')

function server(variable: string, description: string): JsonSchema {
  const name = variable.replaceAll('_', '-')
  return {
    url: `{${variable}}`,
    description,
    variables: {
      [variable]: {
        default: `https://${name}.invalid`,
        description: 'The base address, supplied by the provider.',
      },
    },
  }
}

/** Section 5. */
const SECURITY: JsonSchema = {
  ApiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'Api-Key',
    description: 'Integration identifier, supplied by the provider.',
  },
  SecretKey: {
    type: 'apiKey',
    in: 'header',
    name: 'Secret-Key',
    description:
      "Security key, supplied by the provider; for the integrator's backend, never for an end user.",
  },
  AccessToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'Access token of an end user. The operation that issues it is not shown; the sandbox issues one with POST /_sandbox/tokens.',
  },
}
