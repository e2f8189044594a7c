import { RollcallError } from '../model/errors.ts'

/** @throws RollcallError USAGE when it is no whole number from 1 */
export function readLimit(text: string, option = '--limit'): number {
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new RollcallError('USAGE', [`${option}: expected a whole number from 1`])
  return Number(text)
}
