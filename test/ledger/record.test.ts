import { expect, test } from 'vitest'
import { type LedgerRecord, WHOLE } from '../../src/ledger/record.ts'
import { ledger } from '../../src/ledger/schema.ts'

test('the columns of a record are those of its table', () => {
  const names = Object.keys(WHOLE) as (keyof LedgerRecord)[]
  for (const name of names) expect(WHOLE[name]).toEqual([ledger[name].name, ledger[name].getSQLType()])
})
