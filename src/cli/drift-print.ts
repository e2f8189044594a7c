import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { access, open, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { RollcallError } from '../model/errors.ts'
import { nameOf } from '../model/name-of.ts'
import { readAssets } from '../report/assets.ts'
import { csv } from '../report/csv.ts'
import { htmlPage } from '../report/html.ts'
import { jsonForm, ndjson } from '../report/json.ts'
import type { Report } from '../report/report.ts'
import type { ReportFormat } from './drift-options.ts'
import { asJson } from './json.ts'
import { sayReport } from './say-report.ts'

/** Each without the line feed that ends it. `width`: of the terminal that a table is for, where it is known. */
export async function linesOf(
  report: Report,
  { format, width }: { readonly format: ReportFormat; readonly width: number | undefined },
): Promise<readonly string[]> {
  switch (format) {
    case 'table':
      return sayReport(report, width)
    case 'json':
      return [asJson(jsonForm(report))]
    case 'ndjson':
      return ndjson(report)
    case 'csv':
      return csv(report)
    case 'html':
      return [htmlPage(report, await readAssets()).trimEnd()]
    default:
      return format satisfies never
  }
}

/**
 * Before anything is asked: a run of hours must not end in a file that cannot be written.
 *
 * @throws RollcallError USAGE
 */
export async function checkOutput(cwd: string, output: string): Promise<string> {
  const file = resolve(cwd, output)
  const found = await stat(file).catch(() => null)
  if (found && !found.isFile())
    throw new RollcallError('USAGE', ['--output: there is something that is no file'])
  try {
    await access(dirname(file), constants.W_OK | constants.X_OK)
  } catch {
    throw new RollcallError('USAGE', ['--output: its folder is not there, or may not be written to'])
  }
  return file
}

/**
 * Beside the file first, and in its place once it is whole: whoever reads it at any time has a whole report. For the
 * owner alone, since keys of customers are in it, and values where they were asked for.
 */
export async function writeWhole(file: string, lines: readonly string[]): Promise<void> {
  try {
    await replace(file, lines)
  } catch (error) {
    throw new RollcallError('OUTPUT_FAILED', [Object.values(nameOf(error)).join(' ')])
  }
}

async function replace(file: string, lines: readonly string[]): Promise<void> {
  const draft = join(dirname(file), `.${basename(file)}.${randomBytes(6).toString('hex')}`)
  try {
    const handle = await open(draft, 'wx', 0o600)
    try {
      await handle.writeFile(pieces(lines))
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(draft, file)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

/** A write for each line would be a million of them. */
const LINES = 1000

function* pieces(lines: readonly string[]): Generator<string> {
  for (let at = 0; at < lines.length; at += LINES) yield `${lines.slice(at, at + LINES).join('\n')}\n`
}
