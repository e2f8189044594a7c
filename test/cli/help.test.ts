import type { Command } from 'commander'
import { expect, test } from 'vitest'
import type { Io } from '../../src/cli/io.ts'
import { main, makeProgram } from '../../src/cli/main.ts'

const COLUMNS = 80

function makeIo(out: string[], stop: AbortSignal): Io {
  const write = (text: string) => void out.push(text)
  return { out: write, err: write, env: {}, cwd: '/', terminal: false, stop }
}

/** `[]` is the program itself, `['held', 'log']` a command below another. */
function pathsOf(command: Command, path: readonly string[] = []): (readonly string[])[] {
  return [path, ...command.commands.flatMap((below) => pathsOf(below, [...path, below.name()]))]
}

test('every command has a help of 80 columns at most, with an example of its own', async ({ signal }) => {
  const paths = pathsOf(
    await makeProgram(
      () => true,
      makeIo([], signal),
      () => undefined,
    ),
  )
  expect(paths.length).toBeGreaterThan(20)
  const wrong: string[] = []
  for (const path of paths) {
    const out: string[] = []
    const name = ['rollcall', ...path].join(' ')
    expect(await main([...path, '--help'], makeIo(out, signal)), name).toBe(0)
    const lines = out.join('\n').split('\n')
    expect(lines[0], name).toContain(`Usage: ${name} `)
    wrong.push(...lines.filter((line) => line.length > COLUMNS).map((line) => `${name}: ${line}`))
    const heading = lines.findIndex((line) => /^Examples?:$/.test(line))
    const examples = heading < 0 ? [] : lines.slice(heading + 1)
    if (!examples.some((line) => line.startsWith(`  ${name}`))) wrong.push(`${name}: no example`)
  }
  expect(wrong).toEqual([])
})
