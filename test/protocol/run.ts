// One run: random events until changes and faults stop, then on until nothing is left to do.
import { brokenNow, wrongAtEnd, wrongNow } from './check.ts'
import { commit } from './customers.ts'
import { happen, moveToNextMoment } from './events.ts'
import { newWorld, type World, type WorldParams } from './world.ts'

export type Outcome = {
  /** The first invariant of states and claims that was broken on the way. */
  readonly broken: string | null
  /** Set also where the run does not come to rest. */
  readonly wrong: string | null
  readonly history: readonly string[]
}

/** Far more events than any right run needs to come to rest. */
const REST_LIMIT = 1_500

export function run(params: WorldParams): Outcome {
  const w = newWorld(params)
  let broken: string | null = null
  let wrong: string | null = null
  const check = () => {
    if (broken === null) {
      broken = brokenNow(w)
      if (broken !== null) w.history?.say(null, `BROKEN: ${broken}`)
    }
    wrong = wrongNow(w)
  }
  for (let i = 0; i < w.scene.steps && wrong === null; i++) {
    happen(w)
    check()
  }
  if (wrong === null) stopTrouble(w)
  for (let left = REST_LIMIT; wrong === null && (happen(w) || moveToNextMoment(w)); left--) {
    check()
    w.quiet = left < REST_LIMIT - 200
    if (left === 0) wrong = 'does not come to rest'
  }
  wrong ??= wrongAtEnd(w)
  if (wrong !== null) w.history?.say(null, `WRONG: ${wrong}`)
  return { broken, wrong, history: w.history?.lines ?? [] }
}

function stopTrouble(w: World): void {
  w.calm = true
  w.history?.say(null, '--- no more changes, no more faults ---')
  for (const open of w.transactions) commit(w, open)
}
