// Answers that no preset of the sandbox gives. Each says what a caller who reads it can be sure of, because that decides
// whether the call may be left undone: a service that says "done" and does not is not odd, it lies.
import type { ServerResponse } from 'node:http'
import { AGREEING, type Asked, camel, recased, UNCLEAR, UNREADABLE, YES } from './odd-bodies.ts'
import { answer, BROKEN, type Right, UNUSUAL } from './odd-wire.ts'

/**
 * `yes`: it says that the call was carried out, so it was; `no`: it is refused; `either`: it proves nothing; `as-ever`:
 * the right answer, sent in an unusual way.
 */
export type Carries = 'yes' | 'no' | 'either' | 'as-ever'

export type Odd = {
  readonly name: string
  readonly carries: Carries
  send(res: ServerResponse, right: Right): void
}

const UNPROVEN = [
  300, 302, 303, 304, 307, 308, 402, 405, 406, 408, 411, 412, 415, 417, 418, 421, 423, 424, 425, 426, 428,
  451, 499, 500, 501, 502, 503, 504, 505, 507, 508, 511, 520, 529, 599,
]
const REFUSING = [400, 401, 403, 413, 414, 422, 429, 431]
const TAKING = [200, 201, 202, 203, 206, 207, 208, 226, 299]

/** Nothing of it is a time to wait; a long one would be obeyed. */
const RETRY_AFTER = [
  'soon',
  '-5',
  '1.5',
  '0x10',
  '',
  ' ',
  'NaN',
  '1,2',
  'Fri, 99 Foo 2026 25:61:61 GMT',
  '٣',
  '0',
]

const JSON_TYPE = 'application/json'
const TYPES = [JSON_TYPE, 'text/html', 'application/xml', 'text/plain; charset=utf-16', 'x', 'image/png', '']

/**
 * Any of them for a GET but what would show something that is not so; for a write that is not to be carried out none
 * that could be read as if it were.
 */
export function chooseOdd(asked: Asked): Odd {
  if (asked.method === 'GET') return asked.pick([...ANY, refusal, oddRead])(asked)
  return asked.pick(asked.stores ? [...ANY, refusal, agreement, bareYes, unclear] : [...ANY, refusal])(asked)
}

type Make = (asked: Asked) => Odd

function unproven({ pick }: Asked): Odd {
  const status = pick(UNPROVEN)
  const [name, make] = pick(UNREADABLE.filter(([kind]) => kind !== '5 MB'))
  return {
    name: `${status} with ${name}`,
    carries: 'either',
    send(res, right) {
      const headers = {
        'content-type': pick(TYPES),
        'retry-after': pick(RETRY_AFTER),
        location: '/s2s/v1/users/x',
      }
      answer(res, { status, headers, text: pick([make(right.text), right.text, '']) })
    },
  }
}

function unreadable({ pick }: Asked): Odd {
  const status = pick(TAKING)
  const [name, make] = pick(UNREADABLE)
  return {
    name: `${status} with ${name}`,
    carries: 'either',
    send: (res, right) =>
      answer(res, { status, headers: { 'content-type': pick(TYPES) }, text: make(right.text) }),
  }
}

function refusal({ pick }: Asked): Odd {
  const status = pick(REFUSING)
  return {
    name: `refused with ${status}`,
    carries: 'no',
    send(res) {
      const headers = { 'retry-after': pick(RETRY_AFTER), 'www-authenticate': 'Odd' }
      answer(res, { status, headers, text: pick(['', '{}', '"no"', '<p>no</p>', '{"error":"no"}']) })
    },
  }
}

function agreement(asked: Asked): Odd {
  const status = asked.pick(TAKING)
  const [name, make] = asked.pick(AGREEING)
  const text = JSON.stringify(make(asked))
  const headers = { 'content-type': asked.pick(TYPES) }
  return {
    name: `${status} with ${name}`,
    carries: 'yes',
    send: (res) => answer(res, { status, headers, text }),
  }
}

function bareYes({ pick }: Asked): Odd {
  const [status, text] = [pick(TAKING), pick(YES)]
  const headers = { 'content-type': pick(TYPES) }
  return {
    name: `${status} with a bare yes`,
    carries: 'yes',
    send: (res) => answer(res, { status, headers, text }),
  }
}

function unclear(asked: Asked): Odd {
  const status = asked.pick(TAKING)
  const [name, make] = asked.pick(UNCLEAR)
  const text = JSON.stringify(make(asked))
  return {
    name: `${status} with ${name}`,
    carries: 'either',
    send: (res) => answer(res, { status, headers: {}, text }),
  }
}

/** Readable, but not as the user who was asked for. */
function oddRead(asked: Asked): Odd {
  const { after, pick } = asked
  const bodies = [
    after && { data: after },
    [after],
    { ...after, user_id: 'x' },
    recased(after, camel),
    1,
    'OK',
    false,
    {},
  ]
  const text = JSON.stringify(pick(bodies) ?? [])
  return {
    name: `read ${text.slice(0, 20)}`,
    carries: 'either',
    send: (res) => answer(res, { status: 200, headers: {}, text }),
  }
}

function broken({ pick }: Asked): Odd {
  const [name, write] = pick(BROKEN)
  return {
    name,
    carries: 'either',
    send(res, right) {
      const { socket } = res
      if (!socket) return
      write(socket, right)
      socket.destroySoon()
    },
  }
}

/** The caller is left to give up by itself. */
const silent: Make = () => ({ name: 'silence', carries: 'either', send: () => undefined })

function unusual({ pick }: Asked): Odd {
  const [name, send] = pick(UNUSUAL)
  return { name, carries: 'as-ever', send }
}

const ANY: readonly Make[] = [unproven, unproven, unreadable, broken, broken, silent, unusual]
