import { expect } from 'vitest'
import { type ErrorCode, RollcallError } from '../../src/model/errors.ts'

/** The details of the error of this code with which the work ends; none where it succeeds. */
export function detailsOf(code: ErrorCode, work: () => unknown): readonly string[] {
  try {
    work()
  } catch (error) {
    if (!(error instanceof RollcallError)) throw error
    expect(error.code).toBe(code)
    return error.details
  }
  return []
}
