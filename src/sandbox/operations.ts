// The four endpoints of sections 4.3 to 4.6, decided over what is stored; no HTTP here. What the document does
// not show (answers to create and update, errors) is the sandbox's own choice.
import { createBody, updateBody, type WireProblems, wireProblems } from '../service/schema.ts'
import { type Answer, json, refuse } from './answer.ts'
import { retrievedForm, type SandboxUsers } from './users.ts'

/** Section 4.3. */
export function createUser(users: SandboxUsers, body: unknown): Answer {
  const read = createBody.safeParse(body)
  if (!read.success) return invalid(wireProblems(read.error))
  const { user_id: userId, ...fields } = read.data
  if (users.get(userId) !== undefined) return refuse(409, 'conflict', 'There is a user with this user_id.')
  return json(201, retrievedForm(users.set(userId, fields)), true)
}

/** Section 4.4. */
export function retrieveUser(users: SandboxUsers, userId: string): Answer {
  const user = users.get(userId)
  return user === undefined ? unknownUser() : json(200, retrievedForm(user))
}

/** Section 4.5: the body is the complete set, so a field that is absent is cleared. */
export function replaceUser(users: SandboxUsers, userId: string, body: unknown): Answer {
  return update({ users, userId, body }, 'set')
}

/** Section 4.6: only what the body names changes. */
export function updateUser(users: SandboxUsers, userId: string, body: unknown): Answer {
  return update({ users, userId, body }, 'edit')
}

type Update = { readonly users: SandboxUsers; readonly userId: string; readonly body: unknown }

function update({ users, userId, body }: Update, how: 'set' | 'edit'): Answer {
  if (users.get(userId) === undefined) return unknownUser()
  const read = updateBody.safeParse(body)
  if (!read.success) return invalid(wireProblems(read.error))
  return json(200, retrievedForm(users[how](userId, read.data)), true)
}

function unknownUser(): Answer {
  return refuse(404, 'not_found', 'There is no user with this user_id.')
}

function invalid(fields: WireProblems): Answer {
  return refuse(422, 'invalid', 'The body does not fit section 2.6.', fields)
}
