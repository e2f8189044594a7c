import fc from 'fast-check'
import { expect, it } from 'vitest'
import { makeClock } from '../../../src/sandbox/clock.ts'
import { makeContract } from '../../../src/sandbox/contract/contract.ts'
import { makeUsers } from '../../../src/sandbox/users/users.ts'

const START = 1_700_000_000_000

function build(visibleAfterMs: number) {
  const clock = makeClock(() => START)
  const contract = makeContract({ visibleAfterMs })
  const users = makeUsers({ clock, contract })
  const write = (name: string) => users.write('u', { status: 2, first_name: name }, 'set')
  return { clock, contract, users, write, seen: () => users.seen('u')?.first_name }
}

it('a GET shows at every moment what was held that long before', () => {
  const steps = fc.array(fc.tuple(fc.nat(60), fc.nat(60)), { maxLength: 40 })
  fc.assert(
    fc.property(fc.nat(200), steps, (lagMs, waits) => {
      const { clock, write, seen } = build(lagMs)
      const history: { at: number; name: string }[] = []
      for (const [index, [wait, later]] of waits.entries()) {
        clock.advance(wait)
        write(`name ${index}`)
        history.push({ at: clock.now(), name: `name ${index}` })
        clock.advance(later)
        expect(seen()).toBe(history.findLast(({ at }) => at + lagMs <= clock.now())?.name)
      }
    }),
  )
})

it('the lag ends at once when the contract lags no more, and never begins for what was shown already', () => {
  const { clock, contract, write, seen } = build(0)
  write('a')
  contract.set({ visibleAfterMs: 1000 })
  expect(seen()).toBe('a')
  write('b')
  clock.advance(10)
  expect(seen()).toBe('a')
  contract.set({})
  expect(seen()).toBe('b')
})
