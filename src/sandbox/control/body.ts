// Bodies of control endpoints, read with a schema, and the problems that an answer names.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { readBody } from '../../service/json.ts'
import type { WireProblems } from '../../service/schema.ts'
import { refuse, send } from '../answer.ts'
import { IN_WORDS, MOST_PROBLEMS, shorten } from '../problems.ts'

type Handler = (request: FastifyRequest, reply: FastifyReply) => unknown

/**
 * Calls `then` with a JSON body that fits the schema; otherwise 422 with what was expected of each field, never with
 * its value, or 400 without JSON. Any Content-Type will do, as curl's default must.
 */
export function withBody<Schema extends z.ZodType>(
  schema: Schema,
  then: (body: z.output<Schema>, reply: FastifyReply) => unknown,
): Handler {
  return ({ body }, reply) => {
    const read = Buffer.isBuffer(body) ? readBody(body) : { kind: 'none' as const }
    if (read.kind !== 'json') return send(reply, refuse(400, 'bad_request', 'A JSON body was expected.'))
    const parsed = schema.safeParse(read.value, IN_WORDS)
    if (parsed.success) return then(parsed.data, reply)
    return send(reply, refuse(422, 'invalid', 'The body does not fit.', problemsOf(parsed.error)))
  }
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
  return path.length === 0 ? 'body' : path.map((part) => shorten(String(part)) || '""').join('.')
}

/** A list, or the object in which a GET shows it, so that the answer of a GET can be put back. */
export function listOrShown<Schema extends z.ZodType>(name: string, list: Schema) {
  return z.preprocess((value) => {
    const isShown = typeof value === 'object' && value !== null && Object.keys(value).join() === name
    return isShown ? Object.entries(value)[0]?.[1] : value
  }, list)
}
