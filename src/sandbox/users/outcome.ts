// What became of a server-to-server call, in the words of the contract: nearly nothing of this is shown in the
// document (sections 4.3, 4.5, 4.6 and 7).
import type { WireProblems } from '../../service/schema.ts'
import { type Answer, type AnswerBody, json, refuse } from '../answer.ts'
import type { Contract } from '../contract/contract.ts'
import { retrievedForm } from './shown.ts'
import type { StoredUser } from './users.ts'

export function created(contract: Contract, user: StoredUser): Answer {
  return carriedOut(contract.createStatus, said(contract, contract.createBody, user))
}

export function updated(contract: Contract, user: StoredUser): Answer {
  return carriedOut(contract.updateStatus, said(contract, contract.updateBody, user))
}

export function retrieved(contract: Contract, user: StoredUser): Answer {
  return json(200, retrievedForm(user, contract))
}

/** To a GET and to an update alike. */
export function unknownUser({ unknownUser: status }: Contract): Answer {
  return status === 'null'
    ? json(200, null)
    : refuse(status, 'not_found', 'There is no user with this user_id.')
}

/** A 400 looks like any other refusal of a body: nobody can tell it from one. */
export function duplicate(contract: Contract, status: Exclude<Contract['duplicate'], 'upsert'>): Answer {
  const message = 'There is a user with this user_id.'
  switch (status) {
    case 409:
      return refuse(409, 'conflict', message)
    case 422:
      return refuse(422, 'invalid', message, { user_id: 'one that is not in use' })
    case 400:
      return unsaid(contract.refusal)
    default:
      return status satisfies never
  }
}

/** A body that is no JSON, or is not said to be (section 4). */
export function unreadable({ refusal }: Contract, message: string): Answer {
  return refusal === 'details' ? refuse(400, 'bad_request', message) : unsaid(refusal)
}

/** A body that does not fit section 2.6. */
export function unfit({ refusal }: Contract, fields: WireProblems): Answer {
  return refusal === 'details'
    ? refuse(422, 'invalid', 'The body does not fit section 2.6.', fields)
    : unsaid(refusal)
}

/** A value that fits section 2.6, and that this service does not take. */
export function unwanted(contract: Contract): Answer {
  return unfit(contract, { [contract.refuses]: 'no value: this service takes none' })
}

/** A value that another user has. */
export function taken({ refusal, unique }: Contract): Answer {
  const message = 'Another user has this value.'
  return refusal === 'details'
    ? refuse(409, 'conflict', message, { [unique]: 'one that no other user has' })
    : unsaid(refusal, CONFLICT)
}

export function forbidden(): Answer {
  return refuse(403, 'forbidden', 'This user may not be managed with these keys.')
}

const BAD_REQUEST = { status: 400, says: 'Bad Request' }
const CONFLICT = { status: 409, says: 'Conflict' }

/** The customary body of frameworks that say nothing, or a web server's page. */
function unsaid(refusal: Contract['refusal'], { status, says } = BAD_REQUEST): Answer {
  if (refusal !== 'html') return json(status, { error: says })
  return { status, body: { kind: 'html', title: `${status} ${says}` }, stored: false }
}

function carriedOut(status: number, body: AnswerBody): Answer {
  return { status, body: status === 204 ? { kind: 'none' } : body, stored: true }
}

function said(contract: Contract, what: Said, user: StoredUser): AnswerBody {
  switch (what) {
    case 'user':
      return { kind: 'json', value: retrievedForm(user, contract) }
    case 'id':
      return { kind: 'json', value: { user_id: user.user_id } }
    case 'ok':
      return { kind: 'json', value: { ok: true } }
    case 'null':
      return { kind: 'json', value: null }
    case 'none':
      return { kind: 'none' }
    default:
      return what satisfies never
  }
}

type Said = Contract['createBody'] | Contract['updateBody']
