// An answer on its way out.
import type { FastifyReply } from 'fastify'
import type { Answer, AnswerBody } from './answer.ts'

export function send(reply: FastifyReply, { status, body }: Answer): unknown {
  reply.code(status)
  const written = write(body)
  return written === null ? reply.send() : reply.type(written.type).send(written.text)
}

/** The body as it goes over the wire; null when there is none. JSON as text: a bare null would be taken for none. */
export function write(body: AnswerBody): { readonly type: string; readonly text: string } | null {
  switch (body.kind) {
    case 'json':
      return { type: 'application/json; charset=utf-8', text: JSON.stringify(body.value) }
    case 'none':
      return null
    case 'html':
      return { type: 'text/html', text: htmlPage(body.title) }
    default:
      return body satisfies never
  }
}

export function htmlPage(title: string): string {
  return `<!doctype html><title>${title}</title>`
}
