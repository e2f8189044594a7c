// The one form of the sandbox's errors as a schema, for the OpenAPI document. Section 7: not shown, so all of it
// is the sandbox's choice.
import { z } from 'zod'
import type { ErrorCode } from './answer.ts'

const CODES: Readonly<Record<ErrorCode, string>> = {
  bad_request: 'the request cannot be read',
  unauthorized: 'credentials are missing, wrong or expired',
  forbidden: 'the credentials are good, but not for this',
  not_found: 'there is nothing under this address',
  conflict: 'there is one already',
  invalid: 'the body does not fit',
  too_large: 'the body is too large',
  fault: 'a fault that was asked for',
  broken: 'the sandbox itself failed',
}

const meanings = Object.entries(CODES).map(([code, meaning]) => `\`${code}\`: ${meaning}`)

export const errorWire = z
  .strictObject({
    error: z.strictObject({
      code: z.enum(Object.keys(CODES)).meta({ description: `${meanings.join('; ')}.` }),
      message: z.string().meta({ description: 'A sentence for people; it may change.' }),
      fields: z.record(z.string(), z.string()).meta({
        description: 'What was expected of each field that does not fit, by name; never what it held.',
      }),
    }),
  })
  .meta({ description: "An error in the sandbox's form." })
export type ErrorWire = z.infer<typeof errorWire>
