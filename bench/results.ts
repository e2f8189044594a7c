// How a benchmark is called and what it leaves: its numbers, a table for people, and the same in a file of JSON.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findDistribution } from '../test/support/distribution.ts'

const FOLDER = fileURLToPath(new URL('results/', import.meta.url))
const QUICK = process.argv.includes('--quick')

/** The numbers of the command line; those that are not given are the usual ones, or with `--quick` the small ones. */
export function numbers<const T extends readonly number[]>(usual: T, small: T): { [K in keyof T]: number } {
  const given = process.argv.slice(2).filter((text) => !text.startsWith('--'))
  return (QUICK ? small : usual).map((value, i) => Number(given[i] ?? value)) as never
}

type Column = { readonly title: string; readonly digits?: number; readonly unit?: string }
/** An array: one value a round, shown as its median, with the least and the most behind it. */
type Cell = string | number | null | readonly number[]

type Table = {
  /** The name of the file, without `.json`. */
  readonly name: string
  readonly about: string
  readonly columns: readonly Column[]
  readonly rows: readonly (readonly Cell[])[]
}

/** Prints the table as Markdown, and writes it with the versions of everything to `bench/results/`. */
export function publish({ name, about, columns, rows }: Table): void {
  const versions = versionsHere()
  const lines = [
    `${about} (${Object.values(versions).join(', ')})`,
    '',
    `| ${columns.map(({ title }) => title).join(' | ')} |`,
    `|${columns.map(() => '---|').join('')}`,
    ...rows.map((row) => `| ${row.map((cell, i) => shown(cell, columns[i])).join(' | ')} |`),
  ]
  process.stdout.write(`${lines.join('\n')}\n\n`)
  mkdirSync(FOLDER, { recursive: true })
  const result = { about, at: new Date().toISOString(), versions, columns, rows }
  writeFileSync(join(FOLDER, `${name}.json`), `${JSON.stringify(result, null, 2)}\n`)
}

function shown(cell: Cell, { digits = 0, unit }: Partial<Column> = {}): string {
  if (cell === null) return ''
  if (typeof cell === 'string') return cell
  const number = (value: number) =>
    value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
  const text =
    typeof cell === 'number'
      ? number(cell)
      : `${number(quantile(cell, 0.5))} (${number(quantile(cell, 0))} to ${number(quantile(cell, 1))})`
  return unit ? `${text} ${unit}` : text
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

function versionsHere() {
  const version = (file: string) =>
    /\d+(\.\d+)+/.exec(execFileSync(file, ['--version'], { encoding: 'utf8' }))?.[0]
  return {
    node: `Node ${process.versions.node}`,
    postgres: `Postgres ${version(join(findDistribution() ?? '', 'postgres'))}`,
    redis: `Redis ${version('redis-server')}`,
    machine: `${cpus().length} cores, ${cpus()[0]?.model.trim()}`,
  }
}
