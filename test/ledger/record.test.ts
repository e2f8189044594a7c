import { expect, test } from 'vitest'
import { COLUMNS, type LedgerRecord } from '../../src/ledger/record.ts'
import { ledger } from '../../src/ledger/schema.ts'

test('the columns of a record are those of its table', () => {
  const names = Object.keys(COLUMNS) as (keyof LedgerRecord)[]
  for (const name of names) expect(COLUMNS[name]).toEqual([ledger[name].name, ledger[name].getSQLType()])
})
