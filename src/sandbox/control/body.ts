// Bodies of control endpoints, read with a schema.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { readBody } from '../../service/json.ts'
import type { WireProblems } from '../../service/schema.ts'
import { refuse } from '../answer.ts'
import { send } from '../send.ts'
import { MOST_PROBLEMS, shorten, TOLD } from '../told.ts'

type Handler = (request: FastifyRequest, reply: FastifyReply) => unknown

/**
 * Carries out `then` with the JSON that a request holds, or answers 400. Its Content-Type does not matter, so that
 * curl's default will do.
 */
export function withJson(then: (value: unknown, reply: FastifyReply) => unknown): Handler {
  return ({ body }, reply) => {
    const read = Buffer.isBuffer(body) ? readBody(body) : { kind: 'none' as const }
    if (read.kind === 'json') return then(read.value, reply)
    return send(reply, refuse(400, 'bad_request', 'A JSON body was expected.'))
  }
}

/** The same for what fits the schema; otherwise 422 with what was expected of each field, never with what it held. */
export function withBody<Schema extends z.ZodType>(
  schema: Schema,
  then: (body: z.output<Schema>, reply: FastifyReply) => unknown,
): Handler {
  return withJson((value, reply) => {
    const parsed = schema.safeParse(value, TOLD)
    if (parsed.success) return then(parsed.data, reply)
    return send(reply, refuse(422, 'invalid', 'The body does not fit.', problemsOf(parsed.error)))
  })
}

/** By the path of each field. */
function problemsOf(error: z.ZodError): WireProblems {
  const problems = error.issues.flatMap(({ path, ...issue }) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys
          .slice(0, MOST_PROBLEMS)
          .map((key) => [nameOf([...path, key]), 'no field of this body'] as const)
      : [[nameOf(path), issue.message] as const],
  )
  return Object.fromEntries(problems.slice(0, MOST_PROBLEMS))
}

function nameOf(path: readonly PropertyKey[]): string {
  return path.length === 0 ? 'body' : path.map((part) => shorten(String(part)) || NAMELESS).join('.')
}

/** What a field is called whose name is empty. */
export const NAMELESS = '""'

/**
 * A list, or the object that a GET shows it in under this name, so that what was shown can be put back as it is.
 */
export function listOrShown<Schema extends z.ZodType>(name: string, list: Schema) {
  return z.preprocess((value) => {
    const isShown = typeof value === 'object' && value !== null && Object.keys(value).join() === name
    return isShown ? Object.entries(value)[0]?.[1] : value
  }, list)
}
