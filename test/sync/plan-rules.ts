// The plan as docs/plan.md has it, table by table; in each the first row that fits.
import type { Row } from './rules.ts'

export const CALLS_HEAD: Row = [
  'the customer',
  'another customer has the user',
  'onRemove',
  'createWithoutAccess',
  'never asked',
  'unknown',
  'absent',
  'present without access',
  'present',
]
export const CALLS: readonly Row[] = [
  ['rejected', 'any', 'any', 'any', 'reject', 'reject', 'reject', 'reject', 'reject'],
  ['in scope', 'yes', 'any', 'any', 'reject', 'reject', 'reject', 'reject', 'reject'],
  ['status 0', 'any', 'any', 'no', 'lookup', 'lookup', 'none', 'update', 'update'],
  ['status 0', 'any', 'any', 'any', 'lookup', 'lookup', 'create', 'update', 'update'],
  ['status 2, status 4', 'any', 'any', 'any', 'create', 'lookup', 'create', 'update', 'update'],
  ['removed, out of scope', 'yes', 'any', 'any', 'none', 'none', 'none', 'none', 'none'],
  ['removed, out of scope', 'any', 'ignore', 'any', 'none', 'none', 'none', 'none', 'none'],
  ['removed', 'any', 'erase', 'any', 'lookup', 'lookup', 'none', 'erasure', 'revoke'],
  ['removed', 'any', 'any', 'any', 'lookup', 'lookup', 'none', 'none', 'revoke'],
  ['out of scope', 'any', 'any', 'any', 'none', 'lookup', 'none', 'none', 'revoke'],
]

export const UPDATES_HEAD: Row = ['status', 'fields', 'PUT', 'trial', 'looked up', 'call', 'with the status']
export const UPDATES: readonly Row[] = [
  ['up to date', 'up to date', 'no', 'any', 'any', 'none', '–'],
  ['any', 'any', 'any', 'yes', 'no', 'lookup', '–'],
  ['any', 'any', 'yes', 'yes', 'any', 'replace', 'shown'],
  ['any', 'any', 'no', 'yes', 'any', 'patch', 'shown'],
  ['any', 'any', 'yes', 'any', 'any', 'replace', 'desired'],
  ['any', 'any', 'any', 'any', 'any', 'patch', 'desired'],
]

export const STATUS_HEAD: Row = ['desired', 'known', 'the status is']
export const STATUS: readonly Row[] = [
  ['any', 'as desired', 'up to date'],
  ['0, 4', 'sent 4 but seen 0', 'up to date'],
  ['any', 'any', 'differs'],
]

export const PUT_HEAD: Row = [
  'a field is left out or refused',
  'the mapping sets every field',
  'unmanaged',
  'fields to write',
  'PUT',
]
export const PUT: readonly Row[] = [
  ['yes', 'any', 'any', 'any', 'no'],
  ['any', 'no', 'keep', 'any', 'no'],
  ['any', 'any', 'clear', 'a value in an unmanaged field', 'yes'],
  ['any', 'any', 'any', 'clearing by omission', 'yes'],
  ['any', 'any', 'any', 'all managed fields (several)', 'yes'],
  ['any', 'any', 'any', 'any', 'no'],
]

export const ERASURE_HEAD: Row = ['erased', 'looked up', 'fields to clear', 'call']
export const ERASURE: readonly Row[] = [
  ['no', 'any', 'any', 'erase'],
  ['sent', 'no', 'any', 'lookup'],
  ['any', 'any', 'a refused clearing, a field that a GET shows', 'erase'],
  ['any', 'any', 'any', 'none'],
]

export const CARRIED_HEAD: Row = ['call', 'clearWith', 'status', 'fields', 'a field without a value']
export const CARRIED: readonly Row[] = [
  ['create', 'any', 'desired', 'mapped fields', 'left out'],
  ['replace', 'omit', 'as above', 'every field', 'left out'],
  ['replace', 'empty', 'as above', 'every field', 'empty text'],
  ['replace', 'any', 'as above', 'every field', 'null'],
  ['patch', 'empty', 'as above', 'fields that differ', 'empty text'],
  ['patch', 'any', 'as above', 'fields that differ', 'null'],
  ['revoke', 'any', '0', 'none', '–'],
  ['erase', 'empty', '0', 'fields to clear', 'empty text'],
  ['erase', 'any', '0', 'fields to clear', 'null'],
]

export type Tables = Readonly<
  Record<'calls' | 'updates' | 'status' | 'put' | 'erasure' | 'carried', readonly Row[]>
>
export const TABLES: Tables = {
  calls: CALLS,
  updates: UPDATES,
  status: STATUS,
  put: PUT,
  erasure: ERASURE,
  carried: CARRIED,
}
