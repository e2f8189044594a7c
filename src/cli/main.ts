import os from 'node:os'
import process from 'node:process'
import { Command, CommanderError } from 'commander'
import { isGivenUp } from '../explain/in-time.ts'
import { databaseError } from '../ledger/reachable.ts'
import { explain, RollcallError } from '../model/errors.ts'
import { nameOf } from '../model/name-of.ts'
import { type AddCommand, type ExitCode, type Io, VERSION } from './io.ts'
import { foldedProse } from './render.ts'

const COMMANDS = {
  migrate: "create or update rollcall's own tables, and the tables of a queue in Postgres",
  capture: 'install, check or remove the triggers that capture changes',
  worker: 'run the background process that syncs changes to the service',
  backfill:
    "compare all customers with the ledger (rollcall's record of each user), and sync those that differ",
  sync: 'sync the named customers now, and print every step',
  explain: 'show everything about one or more customers, and what to do',
  access: 'say whether a customer can use the service now, and why not',
  status: 'show owed (pending) syncs, failures with reasons, and whether the triggers fit the configuration',
  drift: 'compare the users at the service with your database, and report differences',
  failures: 'list rejected and failing customers and left-out fields, with reasons; retry them',
  held: 'show the changes that the brake holds; release or discard them',
  pace: 'show the present rate of calls; change its ceiling while workers run',
  erasures: 'show erased fields: which, when, and whether a GET has verified it',
  grants: 'print the SQL that gives a Postgres role the rights for rollcall, and no others',
  answers: 'show each distinct answer of the service, and how it was classified',
  sandbox: 'run a local stand-in for the Legal Consultation Service, in memory',
  demo: 'show the whole product at work, with its own database and service',
}

/** On demand, so that short commands start fast. */
const LOAD: Readonly<Record<keyof typeof COMMANDS, () => Promise<AddCommand>>> = {
  migrate: async () => (await import('./migrate.ts')).migrateCommand,
  capture: async () => (await import('./capture.ts')).captureCommand,
  worker: async () => (await import('./worker.ts')).workerCommand,
  backfill: async () => (await import('./backfill.ts')).backfillCommand,
  sync: async () => (await import('./sync.ts')).syncCommand,
  explain: async () => (await import('./explain.ts')).explainCommand,
  access: async () => (await import('./explain.ts')).accessCommand,
  status: async () => (await import('./status.ts')).statusCommand,
  drift: async () => (await import('./drift.ts')).driftCommand,
  failures: async () => (await import('./failures.ts')).failuresCommand,
  held: async () => (await import('./held.ts')).heldCommand,
  pace: async () => (await import('./pace.ts')).paceCommand,
  erasures: async () => (await import('./erasures.ts')).erasuresCommand,
  grants: async () => (await import('./grants.ts')).grantsCommand,
  answers: async () => (await import('./answers.ts')).answersCommand,
  sandbox: async () => (await import('./sandbox.ts')).sandboxCommand,
  demo: async () => (await import('./demo.ts')).demoCommand,
}

/** For what is on its way to a terminal or a pipe. */
const LINGER_MS = 1000

export async function runCommandLine(): Promise<void> {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      if (stop.signal.aborted) process.exit(128 + os.constants.signals[signal])
      stop.abort()
    })
  const drawsProgress = process.stderr.isTTY === true && !process.env.CI && process.env.TERM !== 'dumb'
  const io: Io = {
    out: (line) => void process.stdout.write(`${line}\n`),
    err: (line) => void process.stderr.write(`${process.stderr.isTTY ? foldedProse(line) : line}\n`),
    env: process.env,
    cwd: process.cwd(),
    terminal: process.stdout.isTTY === true,
    stop: stop.signal,
    ...(drawsProgress ? { screen: process.stderr } : {}),
  }
  // A reader that has seen enough (`| head`) is no error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
  process.on('uncaughtException', (error) => {
    // While it stops, a session that a library leaves may break with no listener left; calls under way still end.
    if (!stop.signal.aborted) process.exit(renderError(error, io))
  })
  process.exitCode = await main(process.argv.slice(2), io)
  // All is done and written; a library that goes on knocking at a server which is away must not keep the process.
  setTimeout(() => process.exit(), LINGER_MS).unref()
}

export async function main(args: readonly string[], io: Io): Promise<ExitCode> {
  let code: ExitCode = 0
  const named = args[0] === 'help' ? args[1] : args[0]
  const program = await makeProgram(
    (name) => name === named,
    io,
    (exit) => {
      code = exit
    },
  )
  for (const command of withSubcommands(program)) {
    command.exitOverride().configureOutput({
      writeOut: (text) => io.out(text.trimEnd()),
      writeErr: (text) => io.err(text.trimEnd()),
    })
  }
  try {
    await program.parseAsync([...args], { from: 'user' })
    return code
  } catch (error) {
    return renderError(error, io)
  }
}

const EXAMPLES = `
Examples:
  rollcall demo              the whole product with made-up customers
  rollcall worker --help     the purpose and the options of a command`

export async function makeProgram(
  isWanted: (name: string) => boolean,
  io: Io,
  exit: (code: ExitCode) => void,
): Promise<Command> {
  const program = new Command('rollcall')
    .description(
      'Keeps the customers of your Postgres registered and up to date at the Legal Consultation Service, each with the right access.',
    )
    .version(VERSION)
    .showHelpAfterError('(--help shows the commands, arguments and options)')
    .addHelpText('after', EXAMPLES)
    .configureHelp({ subcommandTerm: (command) => command.name() })
  for (const [name, load] of Object.entries(LOAD)) {
    if (isWanted(name)) (await load())(program as Parameters<AddCommand>[0], io, exit)
    else program.command(name)
    program.commands.at(-1)?.description(COMMANDS[name as keyof typeof COMMANDS])
  }
  return program
}

function withSubcommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)]
}

function renderError(error: unknown, io: Io): ExitCode {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (io.stop.aborted && error === io.stop.reason) {
    io.err('rollcall: stopped')
    return 1
  }
  const known =
    error instanceof RollcallError
      ? error
      : isGivenUp(error)
        ? new RollcallError('TABLE_LOCKED', [error.message], { cause: error })
        : databaseError(error)
  if (known) {
    io.err(`rollcall: ${explain(known)}`)
    return known.exitCode
  }
  io.err(
    `rollcall: the command failed unexpectedly (${Object.values(nameOf(error)).join(' ')}). Nothing is lost: Postgres keeps the pending changes.`,
  )
  const debug = io.env.LOG_LEVEL === 'debug' || io.env.LOG_LEVEL === 'trace'
  for (const line of debug ? placesIn(error) : ['To see where it failed, run it again with LOG_LEVEL=debug.'])
    io.err(line)
  return 1
}

/** The stack begins with the message, which may quote a value. */
function placesIn(error: unknown): string[] {
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  return stack.split('\n').filter((line) => /^\s+at .+:\d+:\d+\)?$/.test(line))
}
