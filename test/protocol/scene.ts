// Few faults in each run: a run in which everything fails hides the interleavings in which one thing fails at the
// wrong moment.
import type { Random } from './random.ts'

/** Where a process can be caught: after having done what the word says. */
export type Spot =
  | 'taken'
  | 'claimed'
  | 'read'
  | 'answered'
  | 'ended'
  | 'drained'
  | 'leased'
  | 'answered'
  | 'decided'
const SPOTS = [
  'taken',
  'claimed',
  'read',
  'answered',
  'answered',
  'ended',
  'drained',
  'leased',
  'answered',
] as const

export type Scene = {
  readonly customers: number
  /** Events before changes and faults stop. */
  readonly steps: number
  /** Schedule of the virtual clock. */
  readonly timeout: number
  readonly grace: number
  readonly lifetime: number
  readonly queueLease: number
  readonly gap: number
  readonly backoff: number
  /** A GET may show the user as it was up to so many ticks ago. */
  readonly lag: number
  readonly verifies: boolean
  /** How often a check is wanted, in runs that verify: the weight of that event. */
  readonly checks: number
  /** Another system changes users at the service. */
  readonly edits: number
  /** Otherwise checks only report. */
  readonly repairs: boolean
  readonly verifyDelay: number
  /** How often customers change, how fast requests get on, how fast the clock goes: weights of events. */
  readonly changes: number
  readonly network: number
  readonly haste: number
  /** How many different values customers have, and how many changes remove them. */
  readonly values: number
  readonly removals: number
  /** Weights of troubles, 0 when the run does without. */
  readonly crash: number
  readonly suspend: number
  readonly duplicate: number
  readonly loseJobs: number
  readonly serverCrash: number
  readonly sweep: number
  /** Probability that a request does not simply succeed. */
  readonly badAnswers: number
  /** Probability that a request arrives only after its worker has given up on it. */
  readonly lateArrivals: number
  /** Probability that the reply to an ending or to an enqueueing is lost, although it was done. */
  readonly lostReplies: number
  /** The places at which processes of this run like to stop: for a while, or for ever. */
  readonly stopsAt: readonly Spot[]
  readonly diesAt: readonly Spot[]
  /** Probability that a process is suspended between its last reading of the clock and the sending. */
  readonly lateSends: number
  /** Revocations wait for a person. */
  readonly brake: boolean
  /** The service may lose a user. */
  readonly forgets: boolean
  /** The service knew the users before. */
  readonly adopts: boolean
  /** The mapping depends on the time. */
  readonly expires: boolean
  /** The service answers every write with neither yes nor no, also if the user does not exist. */
  readonly mute: boolean
}

/** The guards name the theme in which their absence shows soonest. */
export const THEMES = ['anything', 'late', 'sends', 'people', 'verify', 'checks', 'mute', 'crash'] as const
export type Theme = (typeof THEMES)[number]

export function drawScene(random: Random, theme: Theme): Scene {
  const timeout = 2 + random.int(3)
  const grace = theme === 'late' ? 3 + random.int(4) : 1 + random.int(4)
  const lag = theme === 'verify' ? 2 + random.int(4) : random.chance(0.1) ? random.int(5) : 0
  const sometimes = (probability: number, weight: number) => (random.chance(probability) ? weight : 0)
  const scene: Scene = {
    customers: random.pick([1, 1, 2, 3]),
    steps: 100 + random.int(300),
    timeout,
    grace,
    lifetime: timeout + grace + 1 + random.int(random.pick([2, 8])),
    queueLease: 3 + random.int(8),
    gap: random.int(3),
    backoff: 1 + random.int(6),
    lag,
    verifies: lag > 0 || random.chance(0.1),
    checks: random.pick([0.5, 3]),
    edits: sometimes(0.1, 1),
    repairs: random.chance(0.7),
    verifyDelay: lag + 2 + random.int(4),
    changes: random.pick([0.5, 1, 2, 5]),
    network: random.pick([6, 15, 40]),
    values: 2,
    removals: 0.2,
    haste: random.pick([2, 5, 10]),
    crash: sometimes(0.4, 1),
    suspend: sometimes(0.4, 2),
    duplicate: sometimes(0.4, 1.5),
    loseJobs: sometimes(0.3, 1),
    sweep: sometimes(0.3, 1.5),
    badAnswers: random.pick([0, 0.2, 0.4]),
    lateArrivals: sometimes(0.5, 0.3),
    lostReplies: sometimes(0.2, 0.2),
    stopsAt: random.chance(0.6) ? [random.pick(SPOTS)] : [],
    diesAt: random.chance(0.4) ? [random.pick(SPOTS)] : [],
    lateSends: 0,
    serverCrash: 0,
    brake: random.chance(0.1),
    forgets: random.chance(0.15),
    adopts: random.chance(0.2),
    expires: random.chance(0.2),
    mute: false,
  }
  return { ...scene, ...(theme === 'anything' ? {} : { edits: 0 }), ...dwell(random, theme) }
}

function dwell(random: Random, theme: Theme): Partial<Scene> {
  switch (theme) {
    case 'anything':
      return {}
    case 'late':
      return {
        customers: 1,
        stopsAt: random.pick<readonly Spot[]>([['claimed', 'read'], ['read'], ['answered'], []]),
        diesAt: random.pick([['answered'], []]),
        changes: random.pick([2, 5]),
        haste: 4,
        network: 30,
        lateArrivals: 0.5,
        adopts: false,
        forgets: false,
        expires: false,
      }
    case 'sends':
      return {
        customers: 1,
        lateSends: 0.3,
        checks: 0.1,
        changes: random.pick([1, 3]),
        removals: 0.1,
        network: 40,
        badAnswers: random.pick([0, 0.3]),
        stopsAt: random.pick([['answered'], ['answered'], []]),
        diesAt: [],
        crash: 0,
        suspend: 0,
        haste: 5,
        forgets: false,
        expires: false,
      }
    case 'people':
      return {
        customers: 1,
        brake: true,
        verifies: true,
        values: 1,
        removals: 0.5,
        stopsAt: ['answered', 'drained'],
        diesAt: [],
        changes: 1.5,
        haste: 3,
        crash: 0,
        suspend: 0,
        badAnswers: random.pick([0, 0.3]),
        adopts: false,
        forgets: false,
        expires: false,
      }
    case 'verify':
      return {
        customers: 1,
        verifies: true,
        checks: 0.2,
        brake: random.chance(0.3),
        values: random.pick([1, 2]),
        removals: 0.4,
        lateArrivals: 0.3,
        stopsAt: random.pick([['answered'], []]),
        forgets: false,
      }
    case 'checks':
      return {
        customers: 1,
        verifies: true,
        checks: 6,
        edits: random.pick([0, 0, 1.5]),
        brake: random.chance(0.2),
        values: random.pick([2, 3]),
        lateArrivals: random.pick([0, 0.3]),
        lateSends: random.pick([0, 0, 0.2]),
        changes: random.pick([1, 3]),
        sweep: 1,
        lag: random.pick([0, 0, 3, 5]),
        verifyDelay: 7 + random.int(4),
        stopsAt: random.pick<readonly Spot[]>([['answered'], ['answered', 'drained'], ['ended'], []]),
        diesAt: random.pick<readonly Spot[]>([['answered'], ['claimed'], []]),
        haste: random.pick([2, 4]),
        adopts: false,
        forgets: false,
        expires: false,
      }
    case 'mute':
      return {
        customers: 1,
        mute: true,
        verifies: true,
        forgets: random.chance(0.5),
        removals: random.pick([0.2, 0.5]),
        network: 40,
        crash: 0,
        suspend: 0,
        stopsAt: [],
        diesAt: [],
      }
    case 'crash':
      return {
        serverCrash: 1,
        crash: 0,
        lateArrivals: 0.3,
        stopsAt: random.pick<readonly Spot[]>([['claimed', 'read'], ['answered'], ['drained'], []]),
        diesAt: [],
      }
    default:
      return theme satisfies never
  }
}
