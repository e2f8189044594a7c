import { startMeter } from '../demo/meter.ts'
import { plainScreen, terminalScreen } from '../demo/view.ts'
import type { AddCommand, ExitCode, Io } from './io.ts'
import { JSON_OPTION } from './option-values.ts'
import { asJson } from './render.ts'

type Options = { readonly keep?: boolean; readonly json?: boolean }

/** In a terminal every phase stays long enough to be read. */
const DWELL_MS = 2500

const EXAMPLES = `
Examples:
  rollcall demo           the whole product with made-up customers; ends by
                          itself in under a minute
  rollcall demo --keep    the same, and leave it running: prints addresses
                          and keys; Ctrl-C ends it

All data is in a temporary folder that the demo deletes at its end.
Exit code 0: every customer agrees with its user at the service.
Exit code 1: a customer does not agree, or the demo failed.`

export const demoCommand: AddCommand = (program, io, exit) => {
  program
    .command('demo')
    .option('--keep', 'leave everything running until Ctrl-C')
    .option(...JSON_OPTION)
    .addHelpText('after', EXAMPLES)
    .action(async (options) => exit(await demo(io, options)))
}

async function demo(io: Io, options: Options): Promise<ExitCode> {
  const write = options.json ? io.err : io.out
  return await run(io, options, write).catch((error) => {
    if (!io.stop.aborted) throw error
    write('Stopped before the end. The demo has removed its database.')
    return 1
  })
}

/** Libraries that take long to load come after the first line. */
async function run(io: Io, { json, keep }: Options, write: (line: string) => void): Promise<ExitCode> {
  await using stack = new AsyncDisposableStack()
  const meter = startMeter(Date.now())
  const live = io.terminal && !json && !io.env.CI && io.env.TERM !== 'dumb'
  const screen = live ? terminalScreen(meter, process.stdout) : plainScreen(meter, write)
  stack.defer(() => screen.close())
  screen.show({ place: '', says: 'Starting an embedded Postgres in a temporary folder', hint: '' })
  const { CONFIG_FILE, runDemo } = await import('../demo/run.ts')
  const { NEXT_STEPS, renderKept, renderSummary } = await import('../demo/summary.ts')
  const dwellMs = live ? DWELL_MS : 0
  const { summary, env, untilStopped } = await runDemo({ stack, meter, screen, stop: io.stop, dwellMs })
  if (json) io.out(asJson(keep ? { ...summary, env } : summary))
  else screen.print(['', ...renderSummary(summary, screen.paint), '', ...(keep ? [] : NEXT_STEPS)])
  if (keep) {
    screen.print(renderKept(env, CONFIG_FILE))
    const hint = 'Ctrl-C ends it and removes everything.'
    screen.show({ place: '', says: 'The demo is yours now: change a row and see the calls', hint })
    await untilStopped()
  }
  return summary.agree ? 0 : 1
}
