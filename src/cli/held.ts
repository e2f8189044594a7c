import { HELD_KINDS, type HeldKind, isHeldKind } from '../brake/brake.ts'
import { discard, type HeldSelection, release } from '../brake/held.ts'
import {
  brakeNeedsPerson,
  findHeld,
  type HeldCustomer,
  listDecisions,
  listHeld,
  readBrake,
} from '../brake/list.ts'
import { openMarks } from '../capture/marks.ts'
import { withDatabase } from './connect.ts'
import type { AddCommand, ExitCode, Io } from './io.ts'
import { recordedKeys } from './named.ts'
import { didYouMean, FAILED, JSON_OPTION, readPerson, usage, wholeNumber } from './option-values.ts'
import { tell } from './render.ts'
import { renderDecisions, renderHeld, renderKinds, renderOutcome } from './render-held.ts'

const ACTIONS = {
  release: {
    does: 'approve the held changes of the named customers, or all held changes of --kind',
    carryOut: release,
    examples: `
  rollcall held release --kind revocation --why "contract of Acme ended"
  rollcall held release 4711 4712 --why "asked for by mail"`,
  },
  discard: {
    does: 'do not send the held changes of the named customers, or all held changes of --kind',
    carryOut: discard,
    examples: `
  rollcall held discard --kind clear:email --why "broken import, restored"`,
  },
} as const

const EXAMPLES = `
If one kind of change would reach more customers than the option \`brake\` of the
configuration allows, the brake holds the changes above this limit. They are
not sent until a person decides.

KIND is one of these changes:
  revocation   access to be taken away
  status       a new status that gives access (2 or 4)
  create       a registration
  absence      a registration of a user that the service no longer knows
  clear:FIELD  a cleared field, like clear:email
  erase        erased personal fields
  repair       a repair of drift
  truncated    access to be taken away after a TRUNCATE of a watched table
If a customer key begins with a dash, write -- before it.

A release covers exactly the held change. If the row changes again before this
change is sent, the brake decides about the new change. A discarded change is
not sent. If the row or the mapping changes later, the brake decides about the
new change. To send a discarded change all the same, release the customer by its
key.

The first change above the limit trips the brake for this kind. From then on it
holds further changes of this kind. This ends when you have released or
discarded all customers that are held for the kind. If you correct all their
rows instead, the brake stays tripped: then run
\`rollcall held discard --kind KIND --why TEXT\`.
The command needs DATABASE_URL only.

Exit codes:
  0  no customer is held and no brake is tripped; or the decision is stored
  3  a customer is held, or the brake is tripped for a kind
${FAILED}

Examples:
  rollcall held                              all kinds, and the first customers
  rollcall held log                          past decisions`

const DECISION_ONLY = '--why and --by: only with `rollcall held release` or `rollcall held discard`'

const HOW = [
  '`rollcall held release --kind KIND --why "..."` sends the held changes.',
  '`rollcall held discard --kind KIND --why "..."` sends none of them.',
  'A customer whose row you correct is no longer held.',
]

/**
 * `rollcall held`: who waits for a person, and what that person decides. Options of the same name are taken by `held`
 * itself, so those below it ask for all of them.
 */
export const heldCommand: AddCommand = (program, io, exit) => {
  const held = program
    .command('held')
    .argument('[key...]', 'customer keys')
    .option(
      '--kind <kind>',
      'only this kind of change, like revocation; its discarded changes are listed too',
    )
    .option('--limit <number>', 'list at most this many', wholeNumber('--limit'), 20)
    .option(...JSON_OPTION)
    .addOption(program.createOption('--why <text>').hideHelp())
    .addOption(program.createOption('--by <name>').hideHelp())
    .addHelpText('after', EXAMPLES)
    .hook('preAction', (_, command) => {
      const { why, by } = command.optsWithGlobals()
      if ((why ?? by) !== undefined && !(command.name() in ACTIONS)) throw usage(DECISION_ONLY)
    })
    .action(async (keys, options) => exit(await show(io, keys, options)))
  for (const action of ['release', 'discard'] as const) {
    const { does, carryOut, examples } = ACTIONS[action]
    held
      .command(action)
      .description(does)
      .argument('[key...]', 'customer keys')
      .option('--kind <kind>', 'all customers held for this kind of change')
      .option('--why <text>', 'the reason, stored with the decision')
      .option(
        '--by <name>',
        'the name of the person who decides (default: your operating-system account, and the host)',
      )
      .option(...JSON_OPTION)
      .addHelpText('after', `\nExamples:${examples}`)
      .action(async (given, _, command) => {
        const options = command.optsWithGlobals()
        const kind = readKindAsked(action, given, options.kind)
        const person = readPerson(options)
        const { decided, truncations } = await withDatabase(io, {}, async (pool) => {
          const keys = await recordedKeys(pool, given)
          const selection: HeldSelection = kind === null ? { keys } : { kind }
          const decidable = await findHeld(pool, keys, action === 'release')
          const outcome = await carryOut(pool, { ...selection, ...person })
          const notHeld = [...new Set(keys)].filter((key) => !decidable.includes(key))
          // Until they are closed, customers without a row are held again with the next change.
          const marks = action === 'discard' && kind === 'truncated' ? await openMarks(pool) : []
          return {
            decided: { ...outcome, notHeld },
            truncations: marks.filter((mark) => mark.kind === 'truncate'),
          }
        })
        tell(io, options.json, decided, () => renderOutcome(action, decided, truncations))
      })
  }
  held
    .command('log')
    .description('show past decisions: person, time and reason')
    .option('--limit <number>', 'show at most this many decisions', wholeNumber('--limit'), 20)
    .option(...JSON_OPTION)
    .addHelpText('after', '\nExample:\n  rollcall held log --limit 100')
    .action(async (_, command) => {
      const { limit, json } = command.optsWithGlobals()
      const decisions = await withDatabase(io, {}, (pool) => listDecisions(pool, limit))
      tell(io, json, decisions, () => renderDecisions(decisions))
    })
}

async function show(
  io: Io,
  given: readonly string[],
  { kind, limit, json }: { kind?: string; limit: number; json?: true },
): Promise<ExitCode> {
  const asked = kind === undefined ? {} : { kind: readKind(kind) }
  const { keys, ...view } = await withDatabase(io, {}, async (pool) => {
    const keys = await recordedKeys(pool, given, [...Object.keys(ACTIONS), 'log'])
    const list = await listHeld(pool, { ...asked, ...(keys.length > 0 ? { keys } : {}), limit })
    const kinds = (await readBrake(pool)).filter(
      ({ kind }) => asked.kind === undefined || kind === asked.kind,
    )
    return { keys, kinds, ...list }
  })
  const named = given.length > 0
  tell(io, json, view, () => {
    if (named) return renderHeld(view, keys)
    return [
      ...renderKinds(view.kinds, kind === undefined),
      ...(view.total > 0 ? ['', ...renderHeld(view)] : []),
      ...(view.customers.some(isHeld) ? ['', ...HOW] : []),
    ]
  })
  const waiting = named ? view.customers.some(isHeld) : view.kinds.some(brakeNeedsPerson)
  return waiting ? 3 : 0
}

function isHeld({ state, released }: HeldCustomer): boolean {
  return state === 'held' && !released
}

function readKindAsked(action: string, keys: readonly string[], kind: string | undefined): HeldKind | null {
  if (keys.length > 0 && kind !== undefined) throw usage('customer keys and --kind exclude each other')
  if (kind !== undefined) return readKind(kind)
  if (keys.length === 0) throw usage(`${action} needs customer keys or --kind`)
  return null
}

function readKind(kind: string): HeldKind {
  if (isHeldKind(kind)) return kind
  throw usage(`--kind: unknown; \`rollcall held --help\` lists the kinds${didYouMean(kind, HELD_KINDS)}`)
}
