// Which files a run begins with: one that takes minutes and begins last has every other core wait for it.
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { words } from '../../src/model/values.ts'

const LONG =
  words(`flow/delivery flow/restart flow/matrix ledger/grants-needed flow/trial flow/start flow/crash
  flow/outage sync/converge protocol/ flow/restored`)

function placeOf({ moduleId }: TestSpecification): number {
  const at = LONG.findIndex((part) => moduleId.includes(`/test/${part}`))
  return at === -1 ? LONG.length : at
}

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((one, other) => placeOf(one) - placeOf(other))
  }
}
