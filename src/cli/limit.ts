import { RollcallError } from '../model/errors.ts'

/** @throws RollcallError USAGE when it is no whole number from 1 */
export function readLimit(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new RollcallError('USAGE', ['--limit: expected a whole number from 1'])
  return Number(text)
}
