import { InvalidArgumentError } from 'commander'
import { RollcallError } from '../model/errors.ts'
import { whyNotListening } from '../model/listening.ts'
import {
  CONTRACT_FORM,
  formatContract,
  listContracts,
  parseContract,
  renderContracts,
} from '../sandbox/contract/contract.ts'
import { isShut } from '../sandbox/control/control.ts'
import { FAULT_WORDS, parseFault } from '../sandbox/faults/faults.ts'
import { startSandbox } from '../sandbox/server.ts'
import { type AddCommand, aborted } from './io.ts'
import { gathered } from './option-values.ts'
import { asJson, foldedProse, hanging, tell } from './render.ts'

const A_CONTRACT = `A contract decides the answers that the interface document does not define. Write ${CONTRACT_FORM}. \`rollcall sandbox --contracts\` lists them.`

const EXAMPLES = `
${FAULT_WORDS}

${hanging('', A_CONTRACT).join('\n')}

Examples:
  rollcall sandbox --fault 'PATCH 503 rate=0.3 retry-after=2' --fault latency=9
  rollcall sandbox --contract 'createStatus=204 visibleAfterMs=2000'
  curl -s -X PUT localhost:4010/_sandbox/contract -d '"lagging duplicate=422"'
  curl -s -X PATCH localhost:4010/s2s/v1/users/4711 -d '{"status": 0}' \\
    -H 'Api-Key: sandbox-api-key' -H 'Secret-Key: sandbox-secret-key' \\
    -H 'Content-Type: application/json'            edit a user at the service
docs/sandbox.md has more.`

const SHUT =
  'Other machines can reach the sandbox, so its control calls (/_sandbox/…) are closed. To open them, start with --control-token TOKEN, ' +
  'and send the header Sandbox-Token: TOKEN with each call.'

export const sandboxCommand: AddCommand = (program, io) => {
  program
    .command('sandbox')
    .option('--host <address>', 'address to listen on', filled, '127.0.0.1')
    .option('-p, --port <number>', 'port to listen on', upTo(65_535), 4010)
    .option('--api-key <key>', 'Api-Key that the sandbox accepts', filled, 'sandbox-api-key')
    .option('--secret-key <key>', 'Secret-Key that the sandbox accepts', filled, 'sandbox-secret-key')
    .option('--fault <rule>', "a fault, like 'PATCH 503 rate=0.3'; repeatable", gathered)
    .option(
      '--contract <words>',
      'how the sandbox answers where the interface document says nothing: a preset like legacy, or DIMENSION=VALUE (--contracts lists both); repeatable',
      gathered,
    )
    .option('--contracts', 'list the presets and dimensions of --contract, and end')
    .option('--seed <number>', 'random seed for faults with a rate', upTo(4_294_967_295), 1)
    .option(
      '--control-token <token>',
      'token for /_sandbox/, the path that changes faults and contract; needed if --host is not loopback',
      filled,
    )
    .option('--json', 'print the address as JSON')
    .addHelpText('after', EXAMPLES)
    .action(async ({ json, contracts, fault = [], contract = [], ...options }) => {
      const list = listContracts()
      if (contracts) return tell(io, json, list, () => renderContracts(list).map(foldedProse))
      const settings = { faults: fault.map(parseFault), contract: parseContract(contract.join(' ')) }
      const sandbox = await startSandbox({ ...options, ...settings }).catch((error: unknown) => {
        const why = whyNotListening(error)
        if (why === undefined) throw error
        throw new RollcallError('ADDRESS_TAKEN', [`${options.host}:${options.port}: ${why}`])
      })
      if (isShut({ host: options.host, token: options.controlToken })) io.err(SHUT)
      if (json) io.out(asJson({ url: sandbox.url, apiKey: options.apiKey, secretKey: options.secretKey }))
      else {
        io.out(`SERVICE_URL=${sandbox.url}`)
        io.out(`SERVICE_API_KEY=${options.apiKey}`)
        io.out(`SERVICE_SECRET_KEY=${options.secretKey}`)
        io.err(`contract: ${formatContract(sandbox.contract.now) || 'documented'}`)
        io.err('The sandbox keeps everything in memory. Ctrl-C ends it.')
      }
      await aborted(io.stop)
      await sandbox.stop()
    })
}

/** Empty is what an unset variable leaves: a key or token that is publicly known. */
function filled(text: string): string {
  if (text.trim() !== '') return text
  throw new InvalidArgumentError('Expected a text that is not empty.')
}

function upTo(most: number): (text: string) => number {
  return (text) => {
    if (/^\d{1,10}$/.test(text) && Number(text) <= most) return Number(text)
    throw new InvalidArgumentError(`Expected a whole number from 0 to ${most}.`)
  }
}
