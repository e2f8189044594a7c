import { InvalidArgumentError } from 'commander'
import { RollcallError } from '../model/errors.ts'
import type { FaultInput } from '../sandbox/faults.ts'
import { FAULT_FORM, parseFault } from '../sandbox/faults-text.ts'
import { startSandbox } from '../sandbox/server.ts'
import type { AddCommand } from './io.ts'
import { asJson } from './json.ts'
import { aborted } from './stop.ts'

type Options = {
  readonly host: string
  readonly port: number
  readonly apiKey: string
  readonly secretKey: string
  readonly fault: readonly FaultInput[]
  readonly seed: number
  readonly controlToken?: string
  readonly json?: boolean
}

const EXAMPLES = `
A fault is: ${FAULT_FORM}

Examples:
  rollcall sandbox
  rollcall sandbox --port 4010 --fault 'PATCH 503 rate=0.3 retry-after=2' --fault 'latency=50..200'
  curl -s localhost:4010/_sandbox/users        what it holds
  curl -s localhost:4010/_sandbox/journal      every call it got`

/** `rollcall sandbox`: the service for local work, in memory. */
export const sandboxCommand: AddCommand = (program, io) => {
  program
    .command('sandbox')
    .description('run a stand-in for the Legal Consultation Service, in memory')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('-p, --port <number>', 'port to listen on', port, 4010)
    .option('--api-key <key>', 'Api-Key that it accepts', 'sandbox-api-key')
    .option('--secret-key <key>', 'Secret-Key that it accepts', 'sandbox-secret-key')
    .option('--fault <rule>', 'a fault, repeatable; see below', fault, [])
    .option('--seed <number>', 'seed for the rates of faults', Number, 1)
    .option('--control-token <token>', 'opens /_sandbox/ when it does not listen on loopback')
    .option('--json', 'print the address as JSON')
    .addHelpText('after', EXAMPLES)
    .action(async ({ json, fault: faults, ...options }: Options) => {
      const sandbox = await startSandbox({ ...options, faults }).catch((error: NodeJS.ErrnoException) => {
        throw new RollcallError('ADDRESS_TAKEN', [
          `${options.host}:${options.port} (${error.code ?? 'unknown'})`,
        ])
      })
      if (json) io.out(asJson({ url: sandbox.url, apiKey: options.apiKey, secretKey: options.secretKey }))
      else {
        io.out(`SERVICE_URL=${sandbox.url}`)
        io.out(`SERVICE_API_KEY=${options.apiKey}`)
        io.out(`SERVICE_SECRET_KEY=${options.secretKey}`)
        io.err('It holds everything in memory. Ctrl-C ends it.')
      }
      await aborted(io.stop)
      await sandbox.stop()
    })
}

function port(text: string): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 0 || value > 65_535)
    throw new InvalidArgumentError('expected 0 to 65535')
  return value
}

function fault(text: string, before: readonly FaultInput[]): readonly FaultInput[] {
  return [...before, parseFault(text)]
}
