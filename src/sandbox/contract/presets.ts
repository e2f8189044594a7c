// Services as they may be: each preset is a contract, with a sentence on the kind of service that answers so.
import { type ContractInput, DOCUMENTED } from './contract.ts'

type Preset = { readonly about: string; readonly contract: ContractInput }

const presets = {
  documented: preset("The sandbox's own choice in everything that the document leaves open.", DOCUMENTED),
  'create-200': preset('Answers a create like any other call.', { createStatus: 200 }),
  'create-202-empty': preset('Queues a create: 202, no body.', { createStatus: 202, createBody: 'none' }),
  'create-204': preset('Answers a create with 204.', { createStatus: 204 }),
  'create-ok': preset('Answers a create with {"ok": true}.', { createBody: 'ok' }),
  'create-id': preset('Answers a create with the user_id alone.', { createBody: 'id' }),
  'update-202-empty': preset('Queues an update: 202, no body.', { updateStatus: 202, updateBody: 'none' }),
  'update-204': preset('Answers an update with 204.', { updateStatus: 204 }),
  'update-ok': preset('Answers an update with {"ok": true}.', { updateBody: 'ok' }),
  'update-null': preset('Answers an update with null.', { updateBody: 'null' }),
  'duplicate-422': preset('Answers a create of an existing user with 422.', { duplicate: 422 }),
  'duplicate-400': preset('Refuses a create of an existing user without a reason.', { duplicate: 400 }),
  'duplicate-upsert': preset('A create of an existing user is a full update.', { duplicate: 'upsert' }),
  'unknown-410': preset('Answers 410 for an unknown user.', { unknownUser: 410 }),
  'unknown-null': preset('Answers 200 with null for an unknown user.', { unknownUser: 'null' }),
  'refusal-details': preset('Refuses every description: 422 with the field.', { refuses: 'description' }),
  'refusal-opaque': preset('Every description gets a 400.', { refuses: 'description', refusal: 'opaque' }),
  'refusal-html': preset('Every description gets HTML.', { refuses: 'description', refusal: 'html' }),
  'unique-email': preset("Answers 409 to a write of another user's e-mail address.", { unique: 'email' }),
  'nulls-absent': preset('Leaves fields without a value out of a GET.', { nulls: 'absent' }),
  'nulls-empty': preset('Shows fields without a value as empty text.', { nulls: 'empty' }),
  'numbers-text': preset('Shows status and gender as text.', { numbers: 'text' }),
  lagging: preset('Shows a write two seconds later.', { visibleAfterMs: 2000 }),
  forbidding: preset('Refuses calls about a user_id that contains "forbidden".', { forbidden: 'forbidden' }),
  'trial-stays': preset('Shows status 4 even when the trial is over.', { trialEnd: 'stays' }),
  'trial-restarts': preset('Restarts the trial with every write of status 4.', { trialAgain: 'restarts' }),
  normalising: preset('Normalises e-mail and phone in a GET.', { email: 'lower-case', phone: 'formatted' }),
  'phone-kept': preset('Shows prefix and number apart, as they were sent.', { phone: 'kept' }),
  'sample-names': preset('Names the fields of professionals as the sample does.', { names: 'sample' }),
  'room-text': preset('Gives the ids of rooms as text, in the list of professionals.', { roomId: 'text' }),
  'newest-first': preset('Gives pages of messages newest first.', { order: 'newest-first' }),
  shuffled: preset('Gives pages of messages in no order.', { order: 'shuffled' }),
  'pivot-included': preset('Adds the pivot to its page: limit + 1 messages.', { pivot: 'included' }),
  terse: preset('Says as little as it can: 204 for a write, a bare 400, only fields with a value in a GET.', {
    createStatus: 204,
    updateStatus: 204,
    duplicate: 400,
    refusal: 'opaque',
    nulls: 'absent',
    phone: 'kept',
  }),
  legacy: preset('An old application: 200 for a write, null for unknown users, HTML, numbers as text.', {
    createStatus: 200,
    createBody: 'ok',
    updateBody: 'null',
    duplicate: 400,
    unknownUser: 'null',
    refusal: 'html',
    nulls: 'empty',
    numbers: 'text',
    email: 'lower-case',
    trialEnd: 'stays',
    names: 'sample',
    roomId: 'text',
    order: 'newest-first',
  }),
  eventual: preset('Queues every write: 202, no body, visible two seconds later; creates are upserts.', {
    createStatus: 202,
    createBody: 'none',
    updateStatus: 202,
    updateBody: 'none',
    duplicate: 'upsert',
    visibleAfterMs: 2000,
  }),
}

export type PresetName = keyof typeof presets
export const PRESETS: Readonly<Record<PresetName, Preset>> = presets

export function isPreset(name: string): name is PresetName {
  return Object.hasOwn(PRESETS, name)
}

function preset(about: string, contract: ContractInput): Preset {
  return { about, contract }
}
