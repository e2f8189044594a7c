import { Command } from '@commander-js/extra-typings'
import { describe, expect, test } from 'vitest'
import {
  addDriftOptions,
  type DriftAsked,
  type DriftFlags,
  readDriftAsked,
} from '../../src/cli/drift-options.ts'
import { detailsOf } from '../support/details.ts'

const NOTHING: Omit<DriftAsked, 'resume'> = {
  ...{ fromLedger: false, sample: null, where: [], rate: null, restart: false, maxDrift: null },
  ...{ repair: false, credibleBy: null, showValues: false, format: 'table', output: null },
}

const problemsOf = (options: DriftFlags | readonly string[]) =>
  detailsOf('USAGE', () => readDriftAsked('length' in options ? parsed(options) : options))

function parsed(args: readonly string[]): DriftFlags {
  return addDriftOptions(new Command()).parse(args, { from: 'user' }).opts()
}

describe('options', () => {
  test.each<[DriftFlags, Partial<DriftAsked>]>([
    [{}, {}],
    [{ sample: 500 }, { sample: 500 }],
    [parsed(['--sample', '1000000']), { sample: 1_000_000 }],
    [parsed(['--rate', '0.5']), { rate: 0.5 }],
    [{ maxDrift: '0.5%' }, { maxDrift: 0.005 }],
    [{ maxDrift: '0%' }, { maxDrift: 0 }],
    [{ json: true }, { format: 'json' }],
    [{ json: true, format: 'json' }, { format: 'json' }],
    [
      { format: 'html', output: 'a.html' },
      { format: 'html', output: 'a.html' },
    ],
    [{ where: ['plan=premium', "x='a b'"] }, { where: ['plan=premium', "x='a b'"] }],
    [{ credible: true, why: 'meant', by: 'Ana' }, { credibleBy: { by: 'Ana', why: 'meant' } }],
    [
      { repair: true, showValues: true },
      { repair: true, showValues: true },
    ],
  ])('%j', (options, asked) => expect(readDriftAsked(options)).toMatchObject({ ...NOTHING, ...asked }))

  test.each<[DriftFlags | readonly string[], RegExp]>([
    [{ why: 'meant' }, /^--why: only with --credible/],
    [{ repair: true, by: 'me' }, /^--by: only with --why/],
    [{ credible: true }, /^--why is missing/],
    [['--sample', '0'], /^--sample: .*whole number/],
    [['--sample', '10%'], /^--sample/],
    [['--sample', '1000001'], /^--sample: .+to 1000000/],
    [['--sample', '9'.repeat(400)], /^--sample/],
    [['--rate', '0'], /^--rate: expected/],
    [['--rate', 'fast'], /^--rate/],
    [{ maxDrift: '0.5' }, /^--max-drift: expected a share/],
    [{ maxDrift: '101%' }, /^--max-drift/],
    [{ maxDrift: '-1%' }, /^--max-drift/],
    [{ format: 'csv', json: true }, /^--json: not with --format csv/],
    [{ output: '' }, /^--output/],
    [{ fromLedger: true, repair: true }, /^--repair: not with --from-ledger/],
    [{ fromLedger: true, sample: 5 }, /^--sample: not with --from-ledger/],
    [{ fromLedger: true, where: ['a=1'] }, /^--where: not with --from-ledger/],
  ])('%j: %s', (options, said) => expect(problemsOf(options)).toEqual([expect.stringMatching(said)]))

  test('all options that do not go together are said at once', () => {
    expect(problemsOf({ why: 'meant', output: '', fromLedger: true, repair: true })).toHaveLength(3)
  })
})

test('the command that goes on with a run is the one that began it, as a shell reads it', () => {
  const where = ["name = 'O''Hara'", 'plan=free']
  const flags: DriftFlags = {
    config: 'my config.ts',
    sample: 20,
    where,
    repair: true,
    maxDrift: '0.5%',
    restart: true,
  }
  expect(readDriftAsked(flags).resume).toBe(
    `rollcall drift --config 'my config.ts' --sample 20 --where 'name = '\\''O'\\'''\\''Hara'\\''' --where plan=free --repair --max-drift 0.5%`,
  )
  expect(readDriftAsked({}).resume).toBe('rollcall drift')
})
