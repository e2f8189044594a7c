import { describe, expect, it } from 'vitest'
import { type Fields, OPTIONAL_FIELDS } from '../../src/model/user.ts'
import {
  brief,
  CLEAR,
  clearing,
  FULL,
  KEEP,
  LEFT_OUT,
  marks,
  plan,
  seen,
  sent,
  user,
} from '../support/plan-scene.ts'

describe('a PUT', () => {
  const every: Fields = Object.fromEntries(OPTIONAL_FIELDS.map((field) => [field, `${field} 1`]))
  const other: Fields = Object.fromEntries(OPTIONAL_FIELDS.map((field) => [field, `${field} 2`]))

  it('carries the complete set when every field is managed and every one has changed', () => {
    const made = plan({ mapped: user(2, every), memory: sent(2, other), policy: FULL })
    expect(made).toMatchObject({ kind: 'replace', body: { status: 2, ...every }, fields: OPTIONAL_FIELDS })
  })

  it('is not used for a part of the fields', () => {
    const memory = sent(2, { ...every, email: 'x' })
    expect(brief({ mapped: user(2, every), memory, policy: FULL })).toEqual([
      'patch',
      { status: 2, email: 'email 1' },
    ])
  })

  it('is not used because the only field that is managed has changed', () => {
    const memory = sent(2, { email: 'a' })
    const body = { status: 2, email: 'b' }
    expect(brief({ mapped: user(2, { email: 'b' }), memory, policy: CLEAR })).toEqual(['patch', body])
  })

  it('clears a field by leaving it out, where the configuration says so', () => {
    const policy = { ...FULL, clearWith: { ...clearing('null'), email: 'omit' } } as const
    const fields = { ...every, email: null, last_name: null }
    const { email: _email, ...body } = fields
    const made = plan({ mapped: user(2, fields), memory: sent(2, every), policy })
    expect(made).toMatchObject({ kind: 'replace', fields: OPTIONAL_FIELDS })
    expect('body' in made && made.body).toEqual({ status: 2, ...body })
  })

  it.each(['email', 'country_code'] as const)(
    'clears what others set (%s), where unmanaged fields are cleared',
    (field) => {
      const stray = seen(2, { last_name: 'Gil', [field]: 'x' }, { sent: marks({ last_name: 'Gil' }) })
      const mapped = user(2, { last_name: 'Gil' })
      const nothing = Object.fromEntries(OPTIONAL_FIELDS.map((each) => [each, null]))
      const once = sent(2, { last_name: 'Gil', [field]: 'x' })
      for (const memory of [stray, once]) {
        expect(brief({ mapped, memory, policy: CLEAR })).toEqual([
          'replace',
          { ...nothing, status: 2, last_name: 'Gil' },
        ])
        expect(brief({ mapped, memory, policy: KEEP })).toEqual(['none', 'right'])
      }
    },
  )

  it('clears them in the way of each field', () => {
    const policy = { ...CLEAR, clearWith: { ...clearing('omit'), gender: 'empty', email: 'null' } } as const
    const memory = sent(2, { last_name: 'Gil', email: 'x' })
    expect(brief({ mapped: user(2, { last_name: 'Gil' }), memory, policy })).toEqual([
      'replace',
      { status: 2, last_name: 'Gil', gender: '', email: null },
    ])
  })

  it('is never used while a field is left out or refused: it would be lost', () => {
    const policies = [FULL, CLEAR, { ...FULL, clearWith: clearing('omit') }]
    const { email: _email, ...rest } = every
    const some: Fields = { ...rest, last_name: null }
    const refusedMemory = sent(2, other, { refused: marks({ email: 'email 1' }) })
    for (const policy of policies) {
      expect(plan({ mapped: user(2, some, [LEFT_OUT]), memory: sent(2, other), policy }).kind).toBe('patch')
      expect(plan({ mapped: user(2, every), memory: refusedMemory, policy }).kind).toBe('patch')
    }
  })

  it('is never used where somebody else may have set a field', () => {
    const policy = { ...KEEP, clearWith: clearing('omit') }
    const made = brief({
      mapped: user(2, { email: null, last_name: 'b' }),
      memory: sent(2, { email: 'a' }),
      policy,
    })
    expect(made).toEqual(['patch', { status: 2, email: null, last_name: 'b' }])
  })
})
