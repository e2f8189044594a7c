import { expect, test } from 'vitest'
import { formsAfter, learntBy } from '../../src/drift/learn.ts'

const shown = (form: string, written = true) => ({ email: { form, exact: 'E', written } })

test('a form counts when it comes back after a write, from the second look on', () => {
  expect(formsAfter({ forms: {}, looks: 1 }, shown('F'))).toEqual({ email: ['F', 0] })
  expect(formsAfter({ forms: { email: ['F', 0] }, looks: 1 }, shown('F'))).toEqual({ email: ['F', 0] })
  expect(formsAfter({ forms: { email: ['F', 0] }, looks: 2 }, shown('F'))).toEqual({ email: ['F', 1] })
  expect(formsAfter({ forms: { email: ['F', 1] }, looks: 3 }, shown('F', false))).toEqual({ email: ['F', 1] })
  expect(formsAfter({ forms: { email: ['F', 1] }, looks: 3 }, shown('G'))).toEqual({ email: ['G', 0] })
  expect(formsAfter({ forms: { email: ['F', 1] }, looks: 3 }, {})).toEqual({})
})

test('learnt after two times, with the value that it is the form of; the status never', () => {
  expect(learntBy({ email: ['F', 1] }, shown('F'))).toEqual({})
  expect(learntBy({ email: ['F', 2] }, shown('F'))).toEqual({ email: ['E', 'F'] })
  expect(learntBy({ email: ['F', 2] }, shown('G'))).toEqual({})
  expect(learntBy({ status: ['F', 9] }, { status: { form: 'F', exact: 'E', written: true } })).toEqual({})
})
