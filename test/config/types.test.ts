import { test } from 'vitest'
import { defineConfig } from '../../src/index.ts'

const customers = { table: 'clientes', key: 'id' }
test('a function of the configuration sees the columns that it names', () => {
  const mapping = { user_id: 'id', status: 'plan' }
  // @ts-expect-error there is no `b` among them
  defineConfig({ customers, mapping, scope: { columns: ['a'], when: ({ b }) => b === 1 } })
  // @ts-expect-error nor here
  defineConfig({ customers, mapping: { ...mapping, email: { columns: ['a'], map: ({ b }) => String(b) } } })
})
