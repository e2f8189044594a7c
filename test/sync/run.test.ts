import { describe, expect, it } from 'vitest'
import type { BrakeRequest } from '../../src/brake/brake.ts'
import type { Row } from '../../src/config/config.ts'
import type { Reason } from '../../src/ledger/reason.ts'
import { NO_RECORD } from '../../src/ledger/record.ts'
import type { SyncContext } from '../../src/sync/context.ts'
import type { ClaimRun } from '../../src/sync/run.ts'
import { configOf, KEY, makeCustomer } from '../support/pure-claims.ts'
import { makePureService } from '../support/pure-service.ts'

const row = { id: KEY, plan: 'premium', email: 'ana@correo.es', last_name: 'Gil' }
const premium = { ...row }

function customerWith(given: Parameters<typeof makeCustomer>[0] = {}) {
  return makeCustomer({ config: configOf(['email', 'last_name']), row: premium, ...given })
}

const aborted = (() => {
  const controller = new AbortController()
  controller.abort()
  return controller.signal
})()

/** The permits that are out without a call having been made with them. */
function leaked({ permits, service }: ReturnType<typeof customerWith>): number {
  return permits.taken - permits.givenBack - service.calls.length
}

describe('a claim', () => {
  it.each<[string, Partial<ClaimRun>, boolean]>([
    ['stopping', { stopping: aborted }, false],
    ['out-of-time', { hasTime: () => false }, true],
  ])(
    'that is given up (%s) makes no call, gives its permit back and counts as failed: %s',
    async (code, run, failed) => {
      const customer = customerWith()
      const ending = await customer.claim(run)
      expect(ending).toMatchObject({ kind: 'retry', next: { failed }, writes: 'none' })
      expect(customer.steps.at(-1)).toMatchObject({ step: 'ended', end: { reason: { code } } })
      expect(customer.service.calls).toEqual([])
      expect(leaked(customer)).toBe(0)
      expect(customer.kept.record.state).toBe(failed ? 'failing' : 'idle')
    },
  )

  it('makes no further call once its time has run out between two', async () => {
    const service = makePureService()
    service.users.set(KEY, { status: 0, email: null })
    const customer = customerWith({ service })
    customer.kept.unknown = true
    const ending = await customer.claim({ hasTime: () => service.calls.length === 0 })
    expect(service.calls.map(({ method }) => method)).toEqual(['GET'])
    expect(ending).toMatchObject({ kind: 'retry', record: { remote: 'present', seenStatus: 0 } })
    expect(leaked(customer)).toBe(0)
  })

  it('is held when the brake says so, without a call and without a failure', async () => {
    const customer = customerWith()
    await customer.claim()
    customer.row = null
    const ending = await customer.claim({}, { brake: async () => ['revocation'] })
    expect(ending).toMatchObject({
      kind: 'settle',
      next: { failed: false },
      record: { state: 'held', reason: { code: 'held', kinds: ['revocation'], entitles: false } },
    })
    expect(customer.service.calls.length).toBe(1)
    expect(leaked(customer)).toBe(0)
  })

  it.each([
    ['premium', true],
    ['free', false],
  ])('that is held before a registration (%s) keeps which way access goes', async (plan, entitles) => {
    const customer = customerWith({ row: { ...row, plan } })
    const held = { state: 'held', reason: { code: 'held', kinds: ['create'], entitles } }
    expect(await customer.claim({}, { brake: async ({ kinds }) => kinds })).toMatchObject({ record: held })
  })

  it('asks the brake before each write that may be one of a mass, and before no other call', async () => {
    const customer = customerWith()
    const asked: (readonly string[])[] = []
    const brake: Partial<SyncContext> = {
      brake: async ({ kinds }) => {
        if (kinds.length > 0) asked.push(kinds)
        return []
      },
    }
    for (const plan of ['premium', 'trial', 'free', 'free', 'gone']) {
      customer.kept.version++
      const email = `v${customer.kept.version}@correo.es`
      customer.row = plan === 'gone' ? null : { ...row, plan, email }
      await customer.claim({}, brake)
    }
    expect(asked).toEqual([['create'], ['status'], ['revocation']])
  })

  async function discarded(changed: Row | null = null, given: Parameters<typeof makeCustomer>[0] = {}) {
    const customer = customerWith(given)
    await customer.claim()
    customer.row = changed
    await customer.claim({}, { brake: async () => ['revocation'] })
    discardHeld(customer)
    return customer
  }

  /** As `rollcall held discard` stores it. */
  function discardHeld({ kept }: ReturnType<typeof customerWith>, given: Partial<Reason> = {}) {
    const reason: Reason = { code: 'held', ...kept.record.reason, ...given }
    const { kinds = [], fields } = reason
    const discard = { kinds, ...(fields && { fields }), desired: kept.desiredDigest }
    kept.record = { ...kept.record, state: 'discarded', reason, discard }
  }

  it('does not send again what a person has discarded, until the customer is another one', async () => {
    const customer = await discarded()
    expect(await customer.claim()).toMatchObject({ kind: 'settle', record: { state: 'discarded' } })
    expect(customer.service.calls.length).toBe(1)
    customer.row = { ...row, plan: 'free' }
    // Nor is the change lost with a claim that is let go.
    expect(await customer.claim({ stopping: aborted })).toMatchObject({ record: { state: 'discarded' } })
    expect(await customer.claim()).toMatchObject({ kind: 'settle', record: { state: 'idle' } })
    expect(customer.service.calls.length).toBe(2)
  })

  it('does not send a discarded repair of a field, although a lookup shows the difference again', async () => {
    const customer = customerWith({ row: { ...row, email: 'a@correo.es' } })
    await customer.claim()
    const user = customer.service.users.get(KEY)
    customer.service.users.set(KEY, { status: 2, ...user, email: 'other@correo.es' })
    discardHeld(customer, { kinds: ['repair'], fields: ['email'] })
    customer.kept.unknown = true
    expect(await customer.claim()).toMatchObject({ record: { state: 'discarded' } })
    expect(customer.service.calls.map(({ method }) => method)).toEqual(['POST', 'GET'])
    // The repair that was discarded names no other field.
    customer.kept.record = {
      ...customer.kept.record,
      sent: { ...customer.kept.record.sent, last_name: 'old' },
    }
    expect(await customer.claim()).toMatchObject({ record: { state: 'discarded' } })
    expect(customer.service.calls.at(-1)).toMatchObject({ method: 'PATCH', body: { last_name: 'Gil' } })
    expect(customer.service.users.get(KEY)?.email).toBe('other@correo.es')
    // Nor does it keep access back.
    customer.service.users.set(KEY, { ...customer.service.users.get(KEY), status: 0 })
    customer.kept.unknown = true
    await customer.claim()
    expect(customer.service.users.get(KEY)).toMatchObject({ status: 2, email: 'other@correo.es' })
    customer.service.users.delete(KEY)
    customer.kept.unknown = true
    await customer.claim()
    expect(customer.service.users.get(KEY)).toMatchObject({ status: 2, email: 'a@correo.es' })
  })

  const absences = async ({ kinds }: BrakeRequest) => kinds.filter((kind) => kind === 'absence')

  it('keeps a discarded loss of access, although the service says for a while that there is no such user', async () => {
    const customer = await discarded({ ...row, plan: 'free' })
    const user = customer.service.users.get(KEY)
    customer.service.users.delete(KEY)
    for (const brake of [absences, async () => []]) {
      customer.kept.unknown = true
      expect(await customer.claim({}, { brake })).toMatchObject({ record: { state: 'discarded' } })
    }
    customer.service.users.set(KEY, { status: 2, ...user })
    customer.kept.unknown = true
    expect(await customer.claim()).toMatchObject({ record: { state: 'discarded' } })
    expect(customer.service.calls.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET', 'GET'])
  })

  it('keeps a discarded removal, although the service says for a while that there is no such user', async () => {
    const customer = await discarded()
    const user = customer.service.users.get(KEY)
    customer.service.users.delete(KEY)
    for (const found of [null, user]) {
      if (found) customer.service.users.set(KEY, { ...found, status: 2 })
      customer.kept.unknown = true
      expect(await customer.claim()).toMatchObject({ record: { state: 'discarded' } })
    }
    expect(customer.service.calls.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET'])
  })

  /** A person has discarded that the e-mail is cleared; the service has lost the status meanwhile. */
  async function discardedClearing() {
    const customer = customerWith()
    await customer.claim()
    customer.row = { ...row, email: null }
    await customer.claim({}, { brake: async ({ kinds }) => kinds })
    discardHeld(customer)
    customer.kept.unknown = true
    const user = customer.service.users.get(KEY)
    return { customer, user }
  }

  it('keeps a discard while the customer is held for another kind', async () => {
    const { customer, user } = await discardedClearing()
    customer.service.users.delete(KEY)
    expect(await customer.claim({}, { brake: absences })).toMatchObject({
      record: { state: 'held', reason: { kinds: ['absence'] }, discard: { kinds: ['clear:email'] } },
    })
    customer.service.users.set(KEY, { ...user, status: 4 })
    customer.kept.unknown = true
    // A release of this kind must not send what was discarded.
    expect(await customer.claim({}, { brake: async ({ kinds }) => kinds })).toMatchObject({
      record: { state: 'held', reason: { kinds: ['status'] }, discard: { kinds: ['clear:email'] } },
    })
    customer.service.users.set(KEY, { status: 0, ...user })
    customer.kept.unknown = true
    await customer.claim()
    expect(customer.service.users.get(KEY)).toMatchObject({ status: 2, email: 'ana@correo.es' })
    expect(customer.kept.record).toMatchObject({ state: 'discarded', reason: { kinds: ['clear:email'] } })
  })

  it.each([
    [422, 'rejected', { status: 0 }],
    [422, 'rejected', { last_name: 'edited' }],
    [503, 'failing', { status: 0 }],
  ])('keeps a discard, although the rest of the change is answered with %i', async (status, state, edit) => {
    const { customer, user } = await discardedClearing()
    customer.service.users.set(KEY, { status: 2, ...user, ...edit })
    const fault = { kind: 'answer', status, applied: false } as const
    customer.service.faults.push(null, fault, fault)
    for (let attempts = 0; attempts < 3; attempts++) {
      customer.kept.unknown = true
      await customer.claim()
      if (attempts === 0) expect(customer.kept.record.state).toBe(state)
    }
    expect(customer.service.users.get(KEY)).toMatchObject({ status: 2, email: 'ana@correo.es' })
    expect(customer.kept.record).toMatchObject({ state: 'discarded', reason: { kinds: ['clear:email'] } })
  })

  it('keeps of a discard, after a GET, only the part that still differs', async () => {
    const { customer } = await discardedClearing()
    discardHeld(customer, { kinds: ['absence', 'clear:email'] })
    expect(await customer.claim()).toMatchObject({
      record: { state: 'discarded', reason: { kinds: ['clear:email'] } },
    })
    customer.service.users.delete(KEY)
    customer.kept.unknown = true
    await customer.claim()
    expect(customer.service.users.get(KEY)).toMatchObject({ status: 2 })
  })

  it('keeps a discard after a rotation of the digest key, until the customer is another one', async () => {
    const { customer } = await discardedClearing()
    customer.secret = 'another secret of thirty-two letters'
    for (let claims = 0; claims < 3; claims++) {
      customer.kept.unknown = true
      expect(await customer.claim()).toMatchObject({ record: { state: 'discarded' } })
    }
    expect(customer.service.calls.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET', 'GET'])
    customer.row = { ...row, email: null, plan: 'trial' }
    await customer.claim()
    expect(customer.service.users.get(KEY)).toMatchObject({ status: 4, email: null })
  })

  it.each([undefined, 'another secret of thirty-two letters'])(
    'keeps a discard while the row cannot be read',
    async (secret) => {
      const { customer } = await discardedClearing()
      customer.secret = secret ?? customer.secret
      const gone = Object.assign(new Error('no such column'), { code: '42703' })
      await customer.claim({}, { readRow: () => Promise.reject(gone) })
      expect(customer.kept.record).toMatchObject({ discard: { kinds: ['clear:email'] } })
      await customer.claim()
      expect(customer.kept.record.state).toBe('discarded')
      expect(customer.service.users.get(KEY)?.email).toBe('ana@correo.es')
    },
  )

  it.each([false, true])('shows that the call of a released change fails (a lookup: %s)', async (unknown) => {
    const customer = customerWith()
    await customer.claim()
    customer.row = null
    await customer.claim({}, { brake: async () => ['revocation'] })
    Object.assign(customer.kept.record, { released: true })
    customer.kept.unknown = unknown
    customer.service.faults.push({ kind: 'answer', status: 403, applied: false })
    await customer.claim()
    expect(customer.kept.record).toMatchObject({ state: 'failing', reason: { status: 403 } })
  })

  it.each(['held', 'discarded'] as const)(
    'shows that calls for another desired user fail (%s)',
    async (state) => {
      const customer = await discarded({ ...row, plan: 'free' })
      customer.kept.record = { ...customer.kept.record, state }
      customer.row = { ...row, plan: 'trial' }
      customer.service.faults.push({ kind: 'answer', status: 403, applied: false })
      await customer.claim()
      expect(customer.kept.record).toMatchObject({ state: 'failing', reason: { status: 403 } })
    },
  )

  it.each(['killed', 'lost'] as const)(
    'ends a discard by a write for another desired user (%s)',
    async (kind) => {
      const customer = await discarded({ ...row, plan: 'free' })
      customer.row = { ...row, plan: 'trial' }
      customer.service.faults.push({ kind, applied: true })
      await customer.claim()
      expect(customer.kept.record.state).toBe('failing')
    },
  )

  it('ends a discard when the brake holds another desired user', async () => {
    const customer = await discarded({ ...row, plan: 'free' })
    customer.row = { ...row, email: null }
    await customer.claim({}, { brake: async ({ kinds }) => kinds })
    expect(customer.kept.record).toMatchObject({ state: 'held', discard: null })
  })

  it('keeps a discard while another row shares the user_id', async () => {
    const status = { column: 'plan', values: { free: 0, premium: 2 } }
    const config = configOf([], { mapping: { user_id: { columns: ['id'], map: () => 'u' }, status } })
    const customer = await discarded({ ...row, plan: 'free' }, { config })
    const record = { ...NO_RECORD, ...customer.kept.record }
    const sharing: Partial<SyncContext> = {
      readRecordsOf: async () => [{ key: 'other', record, statusUnknown: false }],
      readOther: async () => ({ ...row, id: 'other' }),
    }
    expect(await customer.claim({}, sharing)).toMatchObject({ record: { state: 'discarded' } })
    expect(customer.steps).toContainEqual(
      expect.objectContaining({ plan: expect.objectContaining({ code: 'shared-user-id' }) }),
    )
  })

  it('ends as not now when the brake cannot be asked about an absence, and counts it with the next', async () => {
    const customer = customerWith()
    await customer.claim()
    customer.row = null
    customer.service.users.delete(KEY)
    const busy = async ({ kinds }: BrakeRequest) => {
      if (kinds.includes('absence')) throw Object.assign(new Error('a lock'), { code: '55P03' })
      return []
    }
    expect(await customer.claim({}, { brake: busy })).toMatchObject({
      kind: 'retry',
      next: { failed: false },
    })
    const asked: unknown[] = []
    const brake = async ({ kinds }: BrakeRequest) => {
      asked.push(...kinds)
      return []
    }
    expect(await customer.claim({}, { brake })).toMatchObject({ kind: 'settle', record: { state: 'idle' } })
    expect(asked).toContain('absence')
  })

  it('tells all processes when the service asks to wait', async () => {
    const customer = customerWith()
    const held: number[] = []
    customer.service.faults.push({ kind: 'answer', status: 503, applied: false, retryAfterMs: 5000 })
    await customer.claim({}, { report: async ({ holdMs }) => void held.push(holdMs) })
    expect(held).toEqual([5000])
    expect(customer.kept).toMatchObject({ unknown: true, attempts: 1 })
  })
})

it('a customer whose value another user has gives up its earlier one behind the brake: its access waits for nothing', async () => {
  const service = makePureService({ taken: { status: 409, body: { kind: 'none' } } })
  service.users.set('other', { status: 2, email: 'eva@correo.es' })
  const customer = customerWith({ service })
  await customer.claim()
  customer.row = { ...premium, email: 'eva@correo.es' }
  await customer.claim()
  customer.kept.replanInMs = null
  const brake = async ({ kinds }: BrakeRequest) => kinds.filter((kind) => kind === 'clear:email')
  expect(await customer.claim({}, { brake })).toMatchObject({
    record: { state: 'held', reason: { kinds: ['clear:email'] }, conflict: { tries: 2 } },
  })
  customer.row = { ...premium, plan: 'free', email: 'eva@correo.es' }
  await customer.claim({}, { brake })
  expect(service.users.get(KEY)).toMatchObject({ status: 0, email: 'ana@correo.es' })

  const released = await customer.claim()
  expect(service.users.get(KEY)).toMatchObject({ status: 0, email: null })
  expect(released).toMatchObject({
    record: { state: 'idle', issues: [{ field: 'email', code: 'taken' }] },
    freed: [{ field: 'email' }],
  })
})

describe('a customer who cannot be read', () => {
  const unreadable = (code: string) => ({
    readRow: async () => {
      throw Object.assign(new Error('invalid input: "ana@correo.es"'), { code })
    },
  })

  it('is tried again later, and what is known of it stays, however often', async () => {
    const service = makePureService({ refuses: (_field, value) => value === 'Gil' })
    const customer = customerWith({ service })
    for (let n = 0; n < 2; n++) await customer.claim()
    const { record } = structuredClone(customer.kept)
    expect(record.issues.map(({ field }) => field)).toEqual(['email', 'last_name'])
    for (let n = 0; n < 3; n++) {
      const ending = await customer.claim({}, unreadable('22P02'))
      const reason = { code: 'customer-unreadable', error: '22P02' }
      expect(ending).toMatchObject({ kind: 'retry', next: { failed: true }, writes: 'none' })
      expect(customer.kept.record).toEqual({ ...record, state: 'failing', reason })
    }
    expect(leaked(customer)).toBe(0)
  })

  it('is rejected when several rows have its key', async () => {
    const customer = customerWith()
    customer.row = 'ambiguous'
    const rejected = { state: 'rejected', issues: [{ field: 'user_id' }] }
    expect(await customer.claim()).toMatchObject({ kind: 'settle', record: rejected })
  })

  it('leaves the claim open when the error is our own, and gives the permit back', async () => {
    const customer = customerWith()
    const broken = {
      readRow: async () => {
        throw new TypeError('not ours')
      },
    }
    await expect(customer.claim({}, broken)).rejects.toThrow('not ours')
    expect(leaked(customer)).toBe(0)
  })
})

describe('several claims', () => {
  it('of a customer whose user_id the mapping has changed: the new user is made', async () => {
    const customer = customerWith()
    await customer.claim()
    const user_id = { columns: ['id'], map: ({ id }: Record<string, unknown>) => `C-${id}` }
    const status = { value: 2 }
    customer.config = configOf([], { mapping: { user_id, status, email: 'email', last_name: 'last_name' } })
    await customer.claim()
    expect(customer.service.calls.slice(1)).toMatchObject([
      { method: 'POST', body: { user_id: `C-${KEY}`, email: 'ana@correo.es' } },
    ])
    expect(customer.kept.record.userId).toBe(`C-${KEY}`)
  })

  it('of a process that died in a call: looked up, and only what no GET shows is sent again', async () => {
    const config = configOf(['email', 'country_code'])
    const customer = customerWith({ config, row: { ...premium, country_code: 'ES' } })
    await customer.claim()
    customer.row = { ...premium, country_code: 'ES', email: 'eva@correo.es' }
    customer.service.faults.push({ kind: 'killed', applied: true })
    expect(await customer.claim()).toBe('killed')
    await customer.claim()
    expect(customer.service.calls.slice(2).map(({ method, body }) => [method, body])).toEqual([
      ['GET', null],
      ['PATCH', { status: 2, country_code: 'ES' }],
    ])
    expect(customer.kept).toMatchObject({ unknown: false, hiddenUnknown: false })
  })
})

it('a create that is refused since the user is there all the same leaves out no value', async () => {
  const customer = customerWith({ service: makePureService({ duplicate: 400 }) })
  await customer.claim()
  customer.row = { ...premium, email: 'eva@correo.es', last_name: 'Soto' }
  customer.service.faults.push({ kind: 'lost', applied: false })
  await customer.claim()
  customer.service.faults.push({ kind: 'answer', status: 404, applied: false })
  for (let n = 0; n < 4; n++) await customer.claim()
  expect(customer.service.users.get(KEY)).toMatchObject({ email: 'eva@correo.es', last_name: 'Soto' })
  expect(customer.kept.record).toMatchObject({ state: 'idle', refused: {}, issues: [] })
})

it('what a claim tells holds no value in ending, reason or issues', async () => {
  const service = makePureService({ refuses: () => true })
  const secret = { id: KEY, plan: 'premium', email: 'secret@correo.es', last_name: 'Secreto' }
  const customer = customerWith({ service, row: secret })
  const reported: unknown[] = []
  for (let n = 0; n < 4; n++) {
    if (n === 2) service.faults.push({ kind: 'lost', applied: false })
    reported.push(await customer.claim(), ...customer.steps.filter(({ step }) => step === 'ended'))
  }
  customer.row = { ...secret, email: 'no address of secret' }
  reported.push(await customer.claim(), customer.kept)
  expect(JSON.stringify(reported)).not.toMatch(/secret/i)
})

describe('access, where a field makes each attempt fail', () => {
  const gil = (_field: unknown, value: unknown) => value === 'Gil'

  async function untilStatus(customer: ReturnType<typeof customerWith>, status: number, run = {}) {
    for (let n = 0; n < 8 && customer.service.users.get(KEY)?.status !== status; n++)
      await customer.claim(run)
    expect(customer.service.users.get(KEY)).toMatchObject({ status })
  }

  it('is given and taken all the same where the service breaks at its value', async () => {
    const customer = customerWith({ service: makePureService({ refuses: gil, refusal: 500 }) })
    await untilStatus(customer, 2)
    customer.row = { ...premium, plan: 'free', email: 'b@correo.es' }
    await untilStatus(customer, 0)
  })

  it('is taken all the same where there is no time for a third call', async () => {
    const customer = customerWith({ service: makePureService({ refuses: gil }) })
    customer.row = { ...premium, last_name: 'Soto' }
    await customer.claim()
    customer.row = { ...premium, plan: 'free' }
    const { calls } = customer.service
    for (let n = 0; n < 8 && customer.service.users.get(KEY)?.status !== 0; n++) {
      const from = calls.length
      Object.assign(customer.kept, { unknown: true })
      await customer.claim({ hasTime: () => calls.length - from < 2 })
    }
    expect(customer.service.users.get(KEY)).toMatchObject({ status: 0 })
  })
})
