// Answers of the sandbox and the one form of its errors. Section 7 shows no errors, so the form is the sandbox's.
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { WireProblems } from '../service/schema.ts'

export type AnswerBody =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'none' }
  | { readonly kind: 'html'; readonly title: string }

/** `stored`: the call changed what the sandbox holds. */
export type SandboxAnswer = { readonly status: number; readonly body: AnswerBody; readonly stored: boolean }

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

/** `fields` says what was expected of each field, never what it held. */
export function errorBody(code: ErrorCode, message: string, fields: WireProblems = {}): object {
  return { error: { code, message, fields } }
}

export function json(status: number, value: unknown, stored = false): SandboxAnswer {
  return { status, body: { kind: 'json', value }, stored }
}

export function refuse(
  status: number,
  code: ErrorCode,
  message: string,
  fields?: WireProblems,
): SandboxAnswer {
  return json(status, errorBody(code, message, fields))
}

export function send(reply: FastifyReply, { status, body }: SandboxAnswer): unknown {
  reply.code(status)
  const written = write(body)
  return written === null ? reply.send() : reply.type(written.type).send(written.text)
}

/** The body as it goes over the wire. JSON goes as text: Fastify would send a bare null as no body. */
export function write(body: AnswerBody): { readonly type: string; readonly text: string } | null {
  switch (body.kind) {
    case 'json':
      return { type: 'application/json; charset=utf-8', text: JSON.stringify(body.value) }
    case 'none':
      return null
    case 'html':
      return { type: 'text/html', text: errorPage(body.title) }
    default:
      return body satisfies never
  }
}

export function errorPage(title: string): string {
  return `<!doctype html><title>${title}</title>`
}
