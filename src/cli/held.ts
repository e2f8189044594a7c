import type { Command } from 'commander'
import type { Pool } from 'pg'
import { HELD_KINDS, type HeldKind, isHeldKind } from '../brake/brake.ts'
import { discard, release } from '../brake/held.ts'
import { brakeNeedsPerson, findKeys, listHeld, readBrake } from '../brake/list.ts'
import { listDecisions } from '../brake/log.ts'
import type { HeldSelection } from '../brake/selection.ts'
import { type CaptureMark, openMarks } from '../capture/marks.ts'
import { closest } from '../model/closest.ts'
import type { CustomerKey } from '../model/customer.ts'
import { RollcallError } from '../model/errors.ts'
import { withTables } from './connect.ts'
import type { AddCommand, ExitCode, Io } from './io.ts'
import { knownSpelling } from './named.ts'
import { readLimit, readPerson, usage } from './option-values.ts'
import { asJson, shown } from './render.ts'
import { HOW, sayDecisions, sayHeldKinds, sayHeldList, sayOutcome } from './say-held.ts'

type Options = {
  readonly kind?: string
  readonly limit?: string
  readonly why?: string
  readonly by?: string
  readonly json?: boolean
}

const EXAMPLES = `
When more customers than the configuration's \`brake\` allows would change in one
way, the rest is held: nothing of it is sent until a person has decided.

KIND is what the list calls it: revocation, status, create, absence, erase,
clear:FIELD (clear:email), or truncated. A customer key that begins with a dash
comes after --.

A release holds for exactly what was held; who changes meanwhile is counted
again. Who is discarded stays as it is until its row changes, or the mapping
makes something else of it. A kind that has tripped stays so until a person has
decided and nobody waits for it; where everybody has come back by itself, held
discard --kind says that somebody has looked.

It reads DATABASE_URL alone, and no configuration.

Exit codes:
  0  nobody is held; or it is decided
  3  somebody is held, or a kind has tripped
  1  it failed
  2  the call or the environment is wrong, a customer that was named is not
     known, or the tables need a migration

Examples:
  rollcall held                              by kind, and the first customers
  rollcall held --kind revocation --limit 1000
  rollcall held 4711                         one
  rollcall held release --kind revocation --why "contract of Acme ended"
  rollcall held release 4711 4712 --why "asked for by mail"
  rollcall held discard --kind clear:email --why "broken import, restored"
  rollcall held log                          who decided what, when and why`

const DECIDING = `
Examples:
  rollcall held release --kind revocation --why "contract of Acme ended"
  rollcall held release 4711 4712 --why "asked for by mail"
  rollcall held discard --kind clear:email --why "broken import, restored"`

const LOG_EXAMPLES = `
Example:
  rollcall held log --limit 100`

/**
 * `rollcall held`: who waits for a person, and what that person decides. Options of the same name are taken by `held`
 * itself, so those below it ask for all of them.
 */
export const heldCommand: AddCommand = (program, io, exit) => {
  const held = program
    .command('held')
    .description('show what the brake holds; let it through or leave it as it is')
    .argument('[key...]', 'customer keys')
    .option('--kind <kind>', 'those who are held for this; see below')
    .option('--limit <number>', 'list this many at most (default: 20)')
    .option('--json', 'print it as JSON')
    .addHelpText('after', EXAMPLES)
    .action(async (keys: string[], options: Options) => {
      const limit = readLimit(options.limit ?? '20')
      const kind = options.kind === undefined ? undefined : readKind(options.kind)
      exit(await withTables(io, (pool) => show(io, pool, { keys, kind, limit, json: options.json === true })))
    })
  deciding(held, 'release', 'let them through: customer keys, or all of --kind')
    .option('--json', 'print it as JSON')
    .action(async (keys: string[], _: Options, command: Command) =>
      exit(await decideOn(io, 'release', keys, command.optsWithGlobals())),
    )
  deciding(held, 'discard', 'leave the service as it is for them: customer keys, or all of --kind')
    .option('--json', 'print it as JSON')
    .action(async (keys: string[], _: Options, command: Command) =>
      exit(await decideOn(io, 'discard', keys, command.optsWithGlobals())),
    )
  held
    .command('log')
    .description('show who decided what, when and why')
    .option('--limit <number>', 'show this many at most (default: 20)')
    .option('--json', 'print it as JSON')
    .addHelpText('after', LOG_EXAMPLES)
    .action(async (_: Options, command: Command) => {
      const { limit, json } = command.optsWithGlobals<Options>()
      const most = readLimit(limit ?? '20')
      const decisions = await withTables(io, (pool) => listDecisions(pool, most))
      for (const line of json ? [asJson(decisions)] : sayDecisions(decisions)) io.out(line)
      exit(0)
    })
}

function deciding(held: Command, name: string, description: string): Command {
  return held
    .command(name)
    .description(description)
    .argument('[key...]', 'customer keys')
    .option('--kind <kind>', 'everybody who is held for this')
    .option('--why <text>', 'the reason, which is kept')
    .option('--by <name>', 'who decides (default: the user of the system, and the host)')
    .addHelpText('after', DECIDING)
}

type Showing = {
  /** As typed. */
  readonly keys: readonly string[]
  readonly kind: HeldKind | undefined
  readonly limit: number
  readonly json: boolean
}

async function show(io: Io, pool: Pool, { keys: given, kind, limit, json }: Showing): Promise<ExitCode> {
  const keys = await knownOf(pool, given)
  const which = { ...(kind === undefined ? {} : { kind }), ...(keys.length > 0 ? { keys } : {}) }
  const list = await listHeld(pool, { ...which, limit })
  const kinds = (await readBrake(pool)).filter((each) => kind === undefined || each.kind === kind)
  if (json) io.out(asJson({ kinds, ...list }))
  else if (keys.length > 0) for (const line of sayHeldList(list)) io.out(line)
  else {
    const lines = [...sayHeldKinds(kinds), ...(list.total > 0 ? [...sayHeldList(list), '', ...HOW] : [])]
    for (const line of lines) io.out(line)
  }
  if (keys.length > 0)
    return list.customers.some(({ state, released }) => state === 'held' && !released) ? 3 : 0
  return kinds.some(brakeNeedsPerson) ? 3 : 0
}

async function decideOn(
  io: Io,
  action: 'release' | 'discard',
  given: readonly string[],
  options: Options,
): Promise<ExitCode> {
  const selection = readSelection(action, given, options.kind)
  const person = readPerson(options)
  const { outcome, notHeld, marks } = await withTables(io, async (pool) => {
    const keys = await knownOf(pool, given)
    const stopped = keys.length > 0 ? await findKeys(pool, keys, STATES[action]) : []
    const carryOut = action === 'release' ? release : discard
    return {
      outcome: await carryOut(pool, { ...('keys' in selection ? { keys } : selection), ...person }),
      notHeld: [...new Set(keys)].filter((key) => !stopped.includes(key)),
      // Until they are closed, whoever has no row is held again with the next change.
      marks: action === 'discard' && options.kind === 'truncated' ? await truncations(pool) : [],
    }
  })
  if (options.json) io.out(asJson({ ...outcome, notHeld }))
  else for (const line of sayOutcome({ action, outcome, notHeld, marks })) io.out(line)
  return 0
}

async function truncations(pool: Pool): Promise<readonly CaptureMark[]> {
  return (await openMarks(pool)).filter(({ kind }) => kind === 'truncate')
}

const STATES = { release: ['held', 'discarded'], discard: ['held'] } as const

function readSelection(
  action: string,
  keys: readonly CustomerKey[],
  kind: string | undefined,
): HeldSelection {
  if (keys.length > 0 && kind !== undefined) throw usage('customer keys and --kind exclude each other')
  if (kind !== undefined) return { kind: readKind(kind) }
  if (keys.length === 0) throw usage(`${action} needs to know whom: customer keys, or --kind`)
  return { keys }
}

function readKind(kind: string): HeldKind {
  if (isHeldKind(kind)) return kind
  const near = closest(kind, HELD_KINDS)
  throw usage(`--kind: there is no such kind${near === undefined ? '' : `; did you mean ${near}?`}`)
}

/** A mistyped key must not pass for one that is not held: nothing is done then. */
async function knownOf(pool: Pool, given: readonly string[]): Promise<readonly CustomerKey[]> {
  if (given.length === 0) return []
  const keys = await knownSpelling(pool, given)
  const known = await findKeys(pool, keys)
  const unknown = [...new Set(keys)].filter((key) => !known.includes(key))
  if (unknown.length > 0)
    throw new RollcallError(
      'USAGE',
      unknown.map((key) => `nothing is known of customer ${shown(key)}`),
    )
  return keys
}
