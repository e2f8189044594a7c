import { expect, test } from 'vitest'
import { type Heard, type JournaledCall, type Lapse, unexplained } from './explain.ts'

const OK: Heard = { kind: 'answer', status: 200, body: 'none' }
const LOST: Heard = { kind: 'nothing', reached: 'maybe' }
const NOT_SENT: Heard = { kind: 'nothing', reached: 'no' }
const answer = (status: number, body: 'none' | 'unreadable' | 'null' | 'user' = 'none'): Heard => ({
  kind: 'answer',
  status,
  body,
})
const NULL = answer(200, 'null')

type Given = Partial<JournaledCall>
type Call = Given & Pick<JournaledCall, 'method'>

const post = (heard: Heard = OK, given: Given = {}): Call => ({
  method: 'POST',
  body: { user_id: 'c', status: 2, first_name: 'Ana', country_code: 'ES' },
  heard,
  ...given,
})
const patch = (body: object, heard: Heard = OK): Call => ({ method: 'PATCH', body: { ...body }, heard })
const got = (fields: object, status = 2): Call => ({
  method: 'GET',
  heard: answer(200, 'user'),
  shown: { userId: 'c', status, fields: { ...fields } },
})
const named = (first_name: string, heard: Heard = OK) => patch({ status: 2, first_name }, heard)
const country = patch({ status: 2, country_code: 'ES' })
const bare: Call = { method: 'POST', body: { user_id: 'c', status: 2 } }
const nobody: Call = { method: 'GET', heard: answer(404) }
const ana = got({ first_name: 'Ana' })
const eva = got({ first_name: 'Eva' })

/** One after the other from 0, 10, 20 and so on, unless a call says when it was. */
function kinds(given: readonly Call[], lapses: readonly Lapse[] = []): readonly string[] {
  const calls = given.map((call, at) => ({
    ...{ body: null, from: at * 10, to: at * 10 + 5, heard: OK, shown: null, carriedOut: null },
    ...call,
  }))
  return unexplained(calls, lapses).map(({ kind, at }) => `${kind} ${at}`)
}

const WHOLE = { method: 'PUT', body: { status: 2, first_name: 'Ana', country_code: 'ES' } } as const
const SILENT = [answer(500), LOST]
const UNKNOWN = [LOST, answer(500), answer(302), answer(200, 'unreadable'), NULL]
const at = (call: Call, from: number, to: number): Call => ({ ...call, from, to })

type Stories = readonly (readonly Call[])[]

test.each<readonly [what: string, found: string, stories: Stories]>([
  ['the same update again after it was acknowledged', 'repeated 2', [[post(), named('Eva'), named('Eva')]]],
  ['a create again after it was acknowledged', 'repeated 1', [[post(), post()]]],
  ['a complete update that changes nothing', 'repeated 1', [[post(), WHOLE]]],
  [
    'a write after an unknown outcome without a lookup',
    'no-lookup 1',
    UNKNOWN.map((heard) => [post(heard), post()]),
  ],
  [
    'a write after an update that was answered with null',
    'no-lookup 2',
    [[post(), named('Eva', NULL), named('Luz')]],
  ],
  ['a write after a create that was answered with null', 'no-lookup 2', [[nobody, post(NULL), named('Eva')]]],
  [
    'one more, where a write came after the lookup',
    'no-lookup 4',
    [[post(), ana, named('Ada'), named('Eva', NULL), named('Luz')]],
  ],
  [
    'a lookup without a result is no lookup',
    'no-lookup 2',
    SILENT.map((heard) => [post(LOST), { ...nobody, heard }, post()]),
  ],
  ['a write of what the lookup has shown', 'repeated 3', [[post(), named('Eva', LOST), eva, named('Eva')]]],
  [
    'the field that no GET shows, sent again though only other fields were unknown',
    'repeated 3',
    [[post(), named('Eva', LOST), eva, country]],
  ],
  ['the field that no GET shows, sent again without need', 'repeated 2', [[post(), ana, country]]],
  [
    'a write of something else that is there, after a refusal',
    'repeated 2',
    [[post(), named('Eva', answer(429)), named('Ana')]],
  ],
  ['an update after a refused create, without a lookup', 'no-lookup 1', [[post(answer(409)), named('Ana')]]],
  ['two requests at once', 'overlap 1', [[at(post(), 0, 50), at(ana, 49, 60), at(nobody, 60, 70)]]],
  ['a service that refuses and does it', 'lie 0', [[post(answer(429), { carriedOut: true })]]],
  ['a service that takes it and does not', 'lie 0', [[post(OK, { carriedOut: false })]]],
])('finds %s', (_what, found, stories) => {
  for (const story of stories) expect(kinds(story)).toEqual([found])
})

const refused = (...statuses: readonly number[]) => statuses.map((status) => answer(status))

test.each<readonly [what: string, stories: Stories]>([
  [
    'an update again after each sure refusal',
    refused(400, 401, 403, 409, 413, 414, 422, 429, 431).map((heard) => [
      post(),
      named('Eva', heard),
      named('Eva'),
    ]),
  ],
  [
    'a create again after a refusal that says nothing of the user',
    refused(401, 429).map((heard) => [post(heard), post()]),
  ],
  [
    'a create again after any other refusal and a lookup',
    refused(400, 403, 409, 422).map((heard) => [post(heard), nobody, post()]),
  ],
  [
    'the status alone after its fields were refused',
    [[post(), named('Eva', answer(422)), patch({ status: 2 })]],
  ],
  [
    'a create after an update was answered that there is no user',
    [[post(), patch({ status: 0 }, answer(404)), post()]],
  ],
  ['a repetition where no connection was made', [[post(NOT_SENT), post()]]],
  [
    'a create of unknown outcome again after a lookup that shows it missing',
    [[post(LOST, { carriedOut: false }), nobody, post()]],
  ],
  ['an update of unknown outcome again after it', [[post(), named('Eva', LOST), ana, named('Eva')]]],
  [
    'a revocation of unknown outcome again after such a lookup',
    [[post(), patch({ status: 0 }, LOST), got({}, 2), patch({ status: 0 })]],
  ],
  [
    'an update after one that was answered with null after a lookup',
    [[post(), ana, named('Eva', NULL), named('Luz')]],
  ],
  ['the field that no GET shows, after an unknown outcome that carried it', [[post(LOST), ana, country]]],
  ['there and back again', [[post(), named('Eva'), named('Ana'), named('Eva')]]],
  ['requests that touch in time', [[at(nobody, 0, 10), at(post(), 10, 20)]]],
])('explains %s', (_what, stories) => {
  for (const story of stories) expect(kinds(story)).toEqual([])
})

const LAPSED = { at: 5, why: 'lapsed' } as const
const late = (when: number): Lapse => ({ at: when, why: 'late ending' })

test.each<readonly [string, readonly Lapse[], readonly Call[], readonly string[]]>([
  ['excuses what no GET shows', [LAPSED], [post(), ana, country], []],
  // Its ending comes when another process has repaired everything, or between the lookup of that process and its write.
  ['excuses it again once it has ended late', [LAPSED, late(25)], [post(), ana, country, ana, country], []],
  ['excuses it by its late ending alone', [late(15)], [post(), ana, country], []],
  ['excuses it once', [LAPSED], [post(), ana, country, country], ['repeated 3']],
  ['excuses it after a bare create', [LAPSED], [nobody, nobody, bare, patch({ country_code: null })], []],
  ['excuses it once by its ending', [late(5)], [post(), ana, country, country], ['repeated 3']],
  ['excuses nothing before it', [{ at: 25, why: 'lapsed' }], [post(), ana, country], ['repeated 2']],
  ['excuses nothing before its ending', [late(25)], [post(), ana, country], ['repeated 2']],
  ['excuses no write without a lookup', [LAPSED], [post(), country], ['no-lookup 1']],
  ['excuses nothing that the lookup has shown', [LAPSED], [post(), ana, named('Ana')], ['repeated 2']],
  ['excuses no registration of a user who is there', [LAPSED], [post(), ana, post()], ['repeated 2']],
])('a claim that did not end in time %s', (_what, lapses, story, found) => {
  expect(kinds(story, lapses)).toEqual(found)
})
