// The control endpoint of the contract: what it is now, and another one while the sandbox runs.
import type { FastifyInstance } from 'fastify'
import type { WireProblems } from '../../service/schema.ts'
import { refuse } from '../answer.ts'
import { type ContractInput, contract, type LiveContract } from '../contract/contract.ts'
import { DIMENSIONS, type Dimension, expected } from '../contract/dimensions.ts'
import { isPreset, PRESETS } from '../contract/presets.ts'
import { type ContractProblem, type ContractReading, readWords } from '../contract/text.ts'
import { send } from '../send.ts'
import { MOST_PROBLEMS, notKnown, shorten } from '../told.ts'
import { NAMELESS, withJson } from './body.ts'

/**
 * GET, PUT and DELETE `/contract`, relative to where the control endpoints are. PUT takes the text form (a
 * preset's name is one) as a JSON string, or an object of dimensions with an optional `preset` that they better;
 * what it does not name takes its default. 400 for what is no JSON, 422 with a line for each thing that is wrong.
 */
export function addContractControl(control: FastifyInstance, live: LiveContract): void {
  control.get('/contract', () => live.now)
  control.put(
    '/contract',
    withJson((value, reply) => {
      const { contract, problems } = readContract(value)
      if (problems.length > 0)
        return send(reply, refuse(422, 'invalid', 'The contract does not fit.', asFields(problems)))
      live.set(contract)
      return live.now
    }),
  )
  control.delete('/contract', (_request, reply) => {
    live.set({})
    return reply.code(204).send()
  })
}

const SHAPE =
  'presets and dimension=value words as one text, or an object of dimensions and perhaps a "preset"'

function readContract(value: unknown): ContractReading {
  if (typeof value === 'string' && value.trim() !== '') return readWords(value)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return readObject(value)
  return { contract: {}, problems: [{ name: 'body', text: SHAPE }] }
}

function readObject(body: object): ContractReading {
  const problems: ContractProblem[] = []
  let preset: ContractInput = {}
  const named: [Dimension, unknown][] = []
  for (const [name, value] of Object.entries(body)) {
    if (problems.length === MOST_PROBLEMS) break
    if (name === 'preset') {
      if (typeof value === 'string' && isPreset(value)) preset = PRESETS[value].contract
      else
        problems.push({ name, text: notKnown(typeof value === 'string' ? value : '', Object.keys(PRESETS)) })
    } else if (!isDimension(name)) {
      problems.push({ name: shorten(name), text: notKnown(name, ['preset', ...DIMENSIONS]) })
    } else if (contract.shape[name].safeParse(value).success) named.push([name, value])
    else problems.push({ name, text: `expected ${expected(name, 'json')}` })
  }
  return { contract: { ...preset, ...Object.fromEntries(named) }, problems }
}

function isDimension(name: string): name is Dimension {
  return Object.hasOwn(contract.shape, name)
}

function asFields(problems: readonly ContractProblem[]): WireProblems {
  return Object.fromEntries(problems.map(({ name, text }) => [name === '' ? NAMELESS : name, text]))
}
