import type { EndingKind } from './endings.ts'
import type { Guards } from './guards.ts'
import { acknowledged, type Field, forgotten, type Known } from './plan.ts'
import type { Answer, Call } from './service.ts'

export type Progress = {
  known: Known
  sure: boolean
  maybeSent: boolean
  lookedUp: boolean
  /** A create was refused with this code: look whether the user exists. */
  refusedCreate: number | null
  calls: number
  acknowledged: boolean
  /** Fields of the acknowledged calls; a create carries all. */
  carried: readonly Carried[]
  /** The last write was answered with neither yes nor no. */
  unclear: boolean
  /** For how long a lookup is not credible yet. */
  tooEarly: number
}

export type Carried = Field | 'all'

export type Turn = 'go on' | EndingKind

export function startProgress(known: Known): Progress {
  const none = { sure: false, maybeSent: false, lookedUp: false, refusedCreate: null, calls: 0 }
  return { known, ...none, acknowledged: false, carried: [], unclear: false, tooEarly: 0 }
}

/** `answer` null: none came within the timeout. */
export function learn(guards: Guards, progress: Progress, call: Call, answer: Answer | null): Turn {
  if (call.verb === 'get') return learnFromRead(guards, progress, answer)
  progress.unclear = answer?.kind === 'unclear'
  if (answer === null) return guards.unknownOnTimeout ? unknown(guards, progress, call) : 'retry'
  switch (answer.kind) {
    case 'done':
      progress.known = acknowledged(progress.known, call)
      progress.sure = true
      progress.acknowledged = true
      progress.carried = carriedBy(call)
      return 'settle'
    case 'unclear':
      return unclear(guards, progress, call)
    case 'error':
      return guards.unknownOn5xx ? unknown(guards, progress, call) : 'retry'
    case 'refused':
      return call.verb === 'create'
        ? refusedCreate(guards, progress, answer.code)
        : refusedUpdate(guards, progress, answer.code)
    default:
      return 'retry'
  }
}

function carriedBy(call: Call): readonly Carried[] {
  if (call.verb === 'create') return ['all']
  if (call.verb === 'get') return []
  return call.change.value === undefined ? ['status'] : ['status', 'value']
}

/** Over, and perhaps done. In a claim that has looked an update counts as done, unless its status was not shown yet. */
function unclear(guards: Guards, progress: Progress, call: Call): Turn {
  const { known, lookedUp } = progress
  progress.acknowledged = true
  const shown = call.verb === 'update' && known.remote === 'present' && call.change.status === known.status
  const counts = shown && lookedUp && guards.unclearCountsAfterLookup
  if (!counts) return unknown(guards, progress, call)
  progress.known = acknowledged(known, call)
  progress.sure = true
  progress.carried = carriedBy(call)
  return 'settle'
}

function unknown(guards: Guards, progress: Progress, call: Call): Turn {
  if (guards.unknownForgetsHidden) progress.known = forgotten(progress.known, call)
  return 'unknown'
}

function refusedCreate(guards: Guards, progress: Progress, code: number): Turn {
  if (!guards.createRefusedMeansLookup) return code === 429 ? 'retry' : 'reject'
  if (progress.lookedUp) return 'retry'
  progress.refusedCreate = code
  return 'go on'
}

function refusedUpdate(guards: Guards, progress: Progress, code: number): Turn {
  if (code === 404 && guards.updateRefused404MeansAbsent) {
    progress.known = { remote: 'absent' }
    progress.sure = true
    return 'go on'
  }
  return code === 429 ? 'retry' : 'reject'
}

function learnFromRead(guards: Guards, progress: Progress, answer: Answer | null): Turn {
  const missing =
    answer?.kind === 'missing' || (answer?.kind === 'error' && !guards.failedLookupChangesNothing)
  const { known } = progress
  if (missing) {
    progress.known = { remote: 'absent' }
  } else if (answer?.kind === 'found') {
    const { status, value } = answer
    const hidden = known.remote === 'present' ? known.hidden : null
    const keep = known.remote === 'present' && !guards.lookupReplacesMemory
    progress.known = keep ? known : { remote: 'present', status, value, hidden }
  } else {
    return 'retry'
  }
  progress.lookedUp = true
  progress.sure = true
  if (!missing || progress.refusedCreate === null) return 'go on'
  return progress.refusedCreate === 429 ? 'retry' : 'reject'
}
