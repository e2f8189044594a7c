// Services as one may meet them: each preset is a contract with a sentence on what kind of service answers so.
import type { ContractInput } from './contract.ts'
import { DOCUMENTED } from './dimensions.ts'

export type Preset = { readonly about: string; readonly contract: ContractInput }

const presets = {
  documented: {
    about: "The sandbox's own choice in everything that the document leaves open.",
    contract: DOCUMENTED,
  },
  'create-200': { about: 'Answers a create like any other call.', contract: { createStatus: 200 } },
  'create-202-empty': {
    about: 'Takes a create for later and says no more.',
    contract: { createStatus: 202, createBody: 'none' },
  },
  'create-204': { about: 'Has nothing to say after a create.', contract: { createStatus: 204 } },
  'create-ok': { about: 'Says that a create went well, and not whose.', contract: { createBody: 'ok' } },
  'create-id': { about: 'Answers a create with the user_id alone.', contract: { createBody: 'id' } },
  'update-202-empty': {
    about: 'Takes an update for later and says no more.',
    contract: { updateStatus: 202, updateBody: 'none' },
  },
  'update-204': { about: 'Has nothing to say after an update.', contract: { updateStatus: 204 } },
  'update-ok': { about: 'Says that an update went well, and not whose.', contract: { updateBody: 'ok' } },
  'update-null': {
    about: 'Returns what its own code returns after an update: null.',
    contract: { updateBody: 'null' },
  },
  'duplicate-422': {
    about: 'Takes a user_id that is in use for a field that does not fit.',
    contract: { duplicate: 422 },
  },
  'duplicate-400': {
    about: 'Refuses a create of an existing user without saying why.',
    contract: { duplicate: 400 },
  },
  'duplicate-upsert': {
    about: 'Takes a create of an existing user for a full update.',
    contract: { duplicate: 'upsert' },
  },
  'unknown-410': {
    about: 'Calls a user whom it does not know gone.',
    contract: { unknownUser: 410 },
  },
  'unknown-null': {
    about: 'Answers 200 with null for a user whom it does not know, even to an update.',
    contract: { unknownUser: 'null' },
  },
  'refusal-details': {
    about: 'Refuses every description, with a 422 that names the field.',
    contract: { refuses: 'description' },
  },
  'refusal-opaque': {
    about: 'Refuses every description, with a 400 that names no field.',
    contract: { refuses: 'description', refusal: 'opaque' },
  },
  'refusal-html': {
    about: 'Refuses every description, with the HTML page of its web server.',
    contract: { refuses: 'description', refusal: 'html' },
  },
  'unique-email': {
    about: "Answers 409 to a write that carries another user's e-mail address.",
    contract: { unique: 'email' },
  },
  'nulls-absent': { about: 'Leaves fields without a value out of a GET.', contract: { nulls: 'absent' } },
  'nulls-empty': { about: 'Shows fields without a value as empty text.', contract: { nulls: 'empty' } },
  'numbers-text': { about: 'Shows status and gender as text.', contract: { numbers: 'text' } },
  lagging: { about: 'Shows a write two seconds later.', contract: { visibleAfterMs: 2000 } },
  forbidding: {
    about: 'Refuses every server-to-server call about a user whose user_id contains "forbidden".',
    contract: { forbidden: 'forbidden' },
  },
  'trial-stays': { about: 'Shows status 4 even when the trial is over.', contract: { trialEnd: 'stays' } },
  'trial-restarts': {
    about: 'Starts the trial anew with every write of status 4.',
    contract: { trialAgain: 'restarts' },
  },
  normalising: {
    about: 'Shows e-mail addresses in lower case and phone numbers formatted.',
    contract: { email: 'lower-case', phone: 'formatted' },
  },
  'phone-kept': { about: 'Shows prefix and number apart, as they were sent.', contract: { phone: 'kept' } },
  'sample-names': {
    about: 'Calls the fields of professionals as the sample payload does.',
    contract: { names: 'sample' },
  },
  'room-text': {
    about: 'Gives the ids of rooms as text, in the list of professionals.',
    contract: { roomId: 'text' },
  },
  'newest-first': { about: 'Gives pages of messages newest first.', contract: { order: 'newest-first' } },
  shuffled: { about: 'Gives pages of messages in no order.', contract: { order: 'shuffled' } },
  'pivot-included': {
    about: 'Adds the pivot to its page: limit + 1 messages.',
    contract: { pivot: 'included' },
  },
  terse: {
    about:
      'Says as little as it can: 204 for a write, a bare 400 for a body that it refuses, and only fields with a value.',
    contract: {
      createStatus: 204,
      updateStatus: 204,
      duplicate: 400,
      refusal: 'opaque',
      nulls: 'absent',
      phone: 'kept',
    },
  },
  legacy: {
    about:
      'An old application: 200 for a write, null for who is not there, HTML for a body that it refuses, the numbers of a user as text.',
    contract: {
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
    },
  },
  eventual: {
    about: 'Puts every write on a queue: 202 without body, visible two seconds later, creates are upserts.',
    contract: {
      createStatus: 202,
      createBody: 'none',
      updateStatus: 202,
      updateBody: 'none',
      duplicate: 'upsert',
      visibleAfterMs: 2000,
    },
  },
} as const satisfies Record<string, Preset>

export type PresetName = keyof typeof presets
export const PRESETS: Readonly<Record<PresetName, Preset>> = presets

export function isPreset(name: string): name is PresetName {
  return Object.hasOwn(PRESETS, name)
}
