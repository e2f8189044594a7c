import { startMeter } from '../demo/meter.ts'
import { type DemoEnd, runDemo } from '../demo/run.ts'
import { plainScreen, type Screen, terminalScreen } from '../demo/screen.ts'
import { renderKept, renderNextSteps, renderTable, renderVerdict } from '../demo/summary.ts'
import { sleep } from '../ops/time.ts'
import type { AddCommand, ExitCode, Io } from './io.ts'
import { aborted } from './io.ts'
import { asJson } from './render.ts'

type Options = { readonly keep?: boolean; readonly json?: boolean }

/** In a terminal every phase stays long enough to be read. */
const DWELL_MS = 2500

const EXAMPLES = `
Examples:
  rollcall demo           a whole rollcall with made-up customers; ends by
                          itself in under a minute
  rollcall demo --keep    the same, and then it is yours: addresses and keys are
                          printed, Ctrl-C ends it
  rollcall demo --json    print what was found as JSON

Everything stands in a temporary folder and is gone afterwards. Exit 0 when
every customer agrees with what the service holds, 1 when not.`

/** `rollcall demo`: everything at work, with a Postgres, a service and customers of its own. */
export const demoCommand: AddCommand = (program, io, exit) => {
  program
    .command('demo')
    .description('show everything at work, with a database and a service of its own')
    .option('--keep', 'leave everything running until Ctrl-C')
    .option('--json', 'print what was found as JSON')
    .addHelpText('after', EXAMPLES)
    .action(async (options: Options) => exit(await demo(io, options)))
}

async function demo(io: Io, options: Options): Promise<ExitCode> {
  const write = options.json ? io.err : io.out
  try {
    return await run(io, options, write)
  } catch (error) {
    if (!io.stop.aborted) throw error
    write('Stopped before the comparison; everything is removed.')
    return 1
  }
}

async function run(io: Io, options: Options, write: (line: string) => void): Promise<ExitCode> {
  await using stack = new AsyncDisposableStack()
  const now = () => Date.now()
  const live = io.terminal && !options.json && !io.env.CI && io.env.TERM !== 'dumb'
  const meter = startMeter(now())
  const screen = live ? terminalScreen(meter, now) : plainScreen(meter, now, write)
  stack.defer(() => screen.close())
  const dwellMs = live ? DWELL_MS : 0
  const ran = await runDemo({ stack, meter, screen, now, sleep, stop: io.stop, dwellMs })
  await show(ran, { io, options, screen })
  return ran.summary.agree ? 0 : 1
}

type Shown = { readonly io: Io; readonly options: Options; readonly screen: Screen }

async function show({ demo, summary, say, broken }: DemoEnd, { io, options, screen }: Shown): Promise<void> {
  if (options.json) io.out(asJson(options.keep ? { ...summary, env: demo.env } : summary))
  else
    screen.print(['', ...renderTable(summary, screen.paint), '', ...renderVerdict(summary, screen.paint), ''])
  if (options.keep) {
    screen.print(renderKept(demo))
    say('It is yours now: change a row and see what is called', 'Ctrl-C ends it and removes everything.')
    await Promise.race([aborted(io.stop), broken])
  } else if (!options.json) {
    screen.print(renderNextSteps(screen.paint))
  }
  screen.close()
}
