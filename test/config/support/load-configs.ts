// Loads each configuration that it is asked for and prints what came of it, one answer for each, as JSON.
// Called as: node load-configs.ts <folder> <JSON of [{ cwd, path? }]>
import { resolve } from 'node:path'
import { loadConfig } from '../../../src/config/load.ts'
import { RollcallError } from '../../../src/model/errors.ts'

const [folder = '.', asked = '[]'] = process.argv.slice(2)
const outcomes: object[] = []
for (const { cwd, path } of JSON.parse(asked) as { cwd: string; path?: string }[]) {
  try {
    const config = await loadConfig(path, resolve(folder, cwd))
    outcomes.push({ file: config.file, email: config.mapping.email?.columns })
  } catch (error) {
    if (!(error instanceof RollcallError)) throw error
    outcomes.push({ code: error.code, details: error.details })
  }
}
process.stdout.write(JSON.stringify(outcomes))
