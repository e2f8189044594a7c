// A server on which every GET is one operation, served with all that serve.ts does.
import Fastify from 'fastify'
import * as z from 'zod'
import { json } from '../../src/sandbox/answer.ts'
import { makeConversations } from '../../src/sandbox/chat/conversations.ts'
import { makeProfessionals } from '../../src/sandbox/chat/professionals.ts'
import { makeClock } from '../../src/sandbox/clock.ts'
import { makeContract } from '../../src/sandbox/contract/contract.ts'
import { makeFaults, parseFault, seededRandom } from '../../src/sandbox/faults/faults.ts'
import { addGroup } from '../../src/sandbox/serve.ts'
import { makeUsers } from '../../src/sandbox/users/users.ts'

/** One operation serves any path. Tests set its answer and read how often it was carried out. */
export async function startServing(faults: readonly string[]) {
  const live = makeFaults(seededRandom(1))
  live.set(faults.map(parseFault))
  const stopping = new AbortController()
  const notes: object[] = []
  const done = { times: 0 }
  const app = Fastify({ forceCloseConnections: true })
  const contract = makeContract({})
  const clock = makeClock()
  const store = {
    contract,
    clock,
    users: makeUsers({ contract, clock }),
    professionals: makeProfessionals([]),
    conversations: makeConversations(clock),
  }
  const doc = { operationId: '', summary: '', description: '', returns: z.unknown() }
  const run = () => {
    done.times += 1
    return json(200, { hello: 'there' })
  }
  addGroup(
    app,
    {
      routes: [{ ...doc, method: 'GET', path: '/*', status: 200, refusals: [], run }],
      userIdOf: () => '',
      authorise: () => null,
    },
    { store, faults: live, noteOf: () => (progress) => void notes.push(progress), stopping: stopping.signal },
  )
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  /** Ends all waiting, as stopping does first of all. */
  const goOn = () => stopping.abort()
  const stop = async () => {
    goOn()
    await app.close()
  }
  return { url, live, notes, done, goOn, stop, port: Number(new URL(url).port) }
}
