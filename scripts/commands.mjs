// Writes docs/command-reference.md from the definitions of the commands; --check fails where it would change.
//   node scripts/commands.mjs [--check]
import { readFileSync, writeFileSync } from 'node:fs'
import process from 'node:process'
import { makeProgram } from '../src/cli/main.ts'

const PAGE = new URL('../docs/command-reference.md', import.meta.url)
const HEAD = `# Command reference

Every command with its arguments and options, as \`--help\` prints them. Written by \`node scripts/commands.mjs\` from the
definitions in \`src/cli\`. [commands.md](commands.md) says which command to use when, and what the exit codes mean.`

const cell = (text) => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ')

/** A table of terms and their descriptions; nothing where there are none. */
const table = (head, rows) =>
  rows.length === 0
    ? []
    : [
        [
          `| ${head} | what it does |`,
          '|---|---|',
          ...rows.map(([term, text]) => `| \`${cell(term)}\` | ${cell(text)} |`),
        ].join('\n'),
      ]

function partsOf(command, names) {
  const help = command.createHelp()
  const line = [...names, command.name()]
  const subcommands = help.visibleCommands(command).filter((each) => each.name() !== 'help')
  const options = help.visibleOptions(command).filter((option) => option.long !== '--help')
  return [
    `${'#'.repeat(line.length)} \`${line.join(' ')}\``,
    `\`\`\`text\n${help.commandUsage(command)}\n\`\`\``,
    help.commandDescription(command),
    ...table(
      'argument',
      help.visibleArguments(command).map((each) => [help.argumentTerm(each), help.argumentDescription(each)]),
    ),
    ...table(
      'option',
      options.map((each) => [help.optionTerm(each), help.optionDescription(each)]),
    ),
    ...subcommands.flatMap((each) => partsOf(each, line)),
  ]
}

const program = await makeProgram(undefined, {}, () => {})
const commands = program.commands.filter((each) => each.name() !== 'help')
const text = `${[HEAD, ...commands.flatMap((each) => partsOf(each, ['rollcall']))].join('\n\n')}\n`
if (!process.argv.includes('--check')) writeFileSync(PAGE, text)
else if (readFileSync(PAGE, 'utf8') !== text) {
  process.stderr.write('docs/command-reference.md is old: node scripts/commands.mjs\n')
  process.exitCode = 1
}
