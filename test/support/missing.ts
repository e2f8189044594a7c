// Servers or a browser that a run lacks. Its last lines tell, and where TEST_REQUIRE is `all` it ends at once: half a
// run is not to be taken for a whole one.
const MISSING = 'TEST_MISSING'

/** Kept in the environment, because configuration, setup and reporter of a run share nothing else. */
export function noteMissing(what: string): void {
  if (process.env.TEST_REQUIRE === 'all') throw new Error(`cannot test ${what}`)
  process.env[MISSING] = [...missing(), what].join('\n')
}

export function missing(): readonly string[] {
  return process.env[MISSING]?.split('\n') ?? []
}
