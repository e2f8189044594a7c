import { describe, expect, it } from 'vitest'
import { looksRandom, withoutCredentials } from '../../src/model/secrets.ts'

describe('addresses in a text', () => {
  it.each([
    ['postgres://ana:worker@h:5432/worker', 'postgres://[hidden]@h:5432/worker'],
    ['redis://:worker@h and amqp://h', 'redis://[hidden]@h and amqp://h'],
    ['at postgresql://a@b:c@h?x=1', 'at postgresql://[hidden]@h?x=1'],
    ['postgres:///d?user=a&password=worker&host=h', 'postgres:///d?user=a&password=[hidden]&host=h'],
    [String.raw`{"a":"postgres://a:w\"x\\y@h"}`, '{"a":"postgres://[hidden]@h"}'],
  ])('lose user and password: %s', (text, bare) => expect(withoutCredentials(text)).toBe(bare))

  it.each([
    'the worker runs',
    'https://h/s2s/v1/users/a@b.example',
    '{"url":"http://127.0.0.1:1","customer":"ana@b.example"}',
  ])('nothing else does: %s', (text) => expect(withoutCredentials(text)).toBe(text))
})

it.each([
  ['0123456789abcdef0f1e2d3c4b5a6978', true],
  ['7b0c9f4e-1d2a-4c58-9e6b-3f0a5d7c8b91', true],
  ['qX7dPz2LmVw9RtKs', true],
  ['worker', false],
  ['rollcall_worker_2026', false],
  ['database-primary-eu-west-1', false],
  ['1234567890123456', false],
  ['a1B2c3', false],
])('%s looks random: %s', (secret, random) => expect(looksRandom(secret)).toBe(random))
