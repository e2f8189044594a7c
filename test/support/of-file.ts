import { afterAll, beforeAll } from 'vitest'

/** One for all tests of a file, or of a `describe`: it is filled before the first of them, and ended after the last. */
export function ofFile<Made extends AsyncDisposable>(make: () => Promise<Made>): Made {
  const made = {} as Made
  beforeAll(async () => void Object.assign(made, await make()))
  afterAll(() => made[Symbol.asyncDispose]())
  return made
}
