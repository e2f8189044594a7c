// Answers of the sandbox and the one form of its errors. Section 7 shows no errors, so the form is the sandbox's.
import { STATUS_CODES } from 'node:http'
import type { FastifyReply } from 'fastify'
import * as z from 'zod'
import type { Problems } from './problems.ts'

/** `stored`: the call changed what the sandbox holds. */
export type SandboxAnswer = {
  readonly status: number
  readonly body: { readonly type: string; readonly text: string } | null
  readonly stored: boolean
}

const CODES = [
  ...(['bad_request', 'unauthorized', 'forbidden', 'not_found', 'conflict', 'invalid', 'too_large'] as const),
  ...(['fault', 'broken'] as const),
]
type ErrorCode = (typeof CODES)[number]

/** The form of every error, for the OpenAPI document. */
export const errorWire = z
  .strictObject({
    error: z.strictObject({
      code: z.enum(CODES).meta({
        description:
          'The kind of error; `fault`: one that was asked for; `broken`: the sandbox itself failed.',
      }),
      message: z.string().meta({ description: 'A sentence for people; it may change.' }),
      fields: z.record(z.string(), z.string()).meta({
        description: 'What was expected of each field that does not fit, by name; never what it held.',
      }),
    }),
  })
  .meta({ description: "An error in the sandbox's form." })

/** The value goes as text: Fastify would send a bare null as no body. */
export function json(status: number, value: unknown, stored = false): SandboxAnswer {
  return { status, body: { type: 'application/json; charset=utf-8', text: JSON.stringify(value) }, stored }
}

export function html(status: number): SandboxAnswer {
  const title = `${status} ${STATUS_CODES[status] ?? ''}`.trim()
  return {
    status,
    body: { type: 'text/html', text: `<!doctype html><title>${title}</title>` },
    stored: false,
  }
}

/** @param fields what was expected of each field, never what it held */
export function refuse(status: number, code: ErrorCode, message: string, fields: Problems = {}) {
  return json(status, { error: { code, message, fields } })
}

export function send(reply: FastifyReply, { status, body }: SandboxAnswer): unknown {
  reply.code(status)
  return body === null ? reply.send() : reply.type(body.type).send(body.text)
}
