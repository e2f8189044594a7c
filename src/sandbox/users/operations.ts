// The four endpoints of sections 4.3 to 4.6, decided over what is stored; no HTTP here. What the document does
// not show is the contract's.

import { normalForm } from '../../model/normal.ts'
import {
  type CreateWire,
  createBody,
  type UpdateWire,
  updateBody,
  wireProblems,
} from '../../service/schema.ts'
import type { Answer } from '../answer.ts'
import type { Contract } from '../contract/contract.ts'
import type { Call } from '../serve.ts'
import {
  created,
  duplicate,
  forbidden,
  retrieved,
  taken,
  unfit,
  unknownUser,
  unreadable,
  unwanted,
  updated,
} from './outcome.ts'
import { isBlank, type LiveUsers } from './users.ts'

export type Store = { readonly users: LiveUsers; readonly contract: Contract }
export type Decide = (store: Store, call: Call) => Answer

/** Section 4.3. */
export function createUser({ users, contract }: Store, { body }: Call): Answer {
  const read = createBody.safeParse(body)
  if (!read.success) return unfit(contract, wireProblems(read.error))
  const { user_id: userId, ...fields } = read.data
  if (isUnwanted(contract, fields)) return unwanted(contract)
  const known = users.get(userId) !== undefined
  if (known && contract.duplicate !== 'upsert') return duplicate(contract, contract.duplicate)
  if (isTaken({ users, contract }, userId, fields)) return taken(contract)
  return created(contract, users.write(userId, fields, 'set'))
}

/** Section 4.4. */
export function retrieveUser({ users, contract }: Store, { userId }: Call): Answer {
  const user = users.seen(userId)
  return user === undefined ? unknownUser(contract) : retrieved(contract, user)
}

/** Section 4.5: the body is the complete set, so a field that is absent is cleared. */
export function replaceUser(store: Store, call: Call): Answer {
  return update(store, call, 'set')
}

/** Section 4.6: only what the body names changes. */
export function updateUser(store: Store, call: Call): Answer {
  return update(store, call, 'edit')
}

/** What is looked at before any of the four: whom the contract forbids, and whether there is a body to go by. */
export function carryOut(store: Store, call: Call, decide: Decide): Answer {
  const { contract } = store
  if (contract.forbidden !== null && call.userId.includes(contract.forbidden)) return forbidden()
  return call.unreadable === null ? decide(store, call) : unreadable(contract, call.unreadable)
}

function update({ users, contract }: Store, { userId, body }: Call, how: 'set' | 'edit'): Answer {
  if (users.get(userId) === undefined) return unknownUser(contract)
  const read = updateBody.safeParse(body)
  if (!read.success) return unfit(contract, wireProblems(read.error))
  if (isUnwanted(contract, read.data)) return unwanted(contract)
  if (isTaken({ users, contract }, userId, read.data)) return taken(contract)
  return updated(contract, users.write(userId, read.data, how))
}

type Fields = Omit<CreateWire, 'user_id'> | UpdateWire

function isUnwanted({ refuses }: Contract, fields: Fields): boolean {
  return refuses !== 'nothing' && !isBlank(fields[refuses] ?? null)
}

/** By what is held, which a GET may not show yet; in normal form, as indexes of this kind commonly are. */
function isTaken({ users, contract: { unique } }: Store, userId: string, fields: Fields): boolean {
  if (unique === 'nothing') return false
  const wanted = normalForm(unique, fields[unique])
  const others = users.all().filter((user) => user.user_id !== userId)
  return wanted !== null && others.some((user) => normalForm(unique, user[unique]) === wanted)
}
